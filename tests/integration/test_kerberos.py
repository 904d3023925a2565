"""Logging in by GSSAPI with the tickets of a real KDC: kcat, and what is not to be let in."""

from __future__ import annotations

import gc
import os
import random
import subprocess
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.conftest import unmet
from tests.differential.apache_kafka_node import missing
from tests.differential.kafka_tools import KafkaTools
from tests.docs_page import ROOT, blocks
from tests.effort import often
from tests.integration.raw_client import RawClient
from tests.integration.scrape import Metrics
from tests.kerberos import JAVAS_SERVICE, REALM, SERVICE, Kdc, Ticket
from tests.secured_broker import SecuredBroker
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.broker.sasl.gssapi import KerberosService, KerberosSettings
from headwater.broker.sasl.kerberos_library import KerberosError, gssapi
from headwater.broker.sasl.mechanism import LoginRefused
from headwater.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.broker.sasl.gssapi import GssapiExchange

pytestmark = pytest.mark.needs("krb5kdc", "kadmin.local", "kinit")

RULES = r"RULE:[2:$1@$0](.*@PLANT\.TEST)s/@.*//U,DEFAULT"
TOLD = (
    "Authentication failed during authentication due to invalid credentials with SASL mechanism"
    " GSSAPI"
)
NO_LAYER, INTEGRITY = 1, 2


class World(NamedTuple):
    """A realm, keys of a service and of users, and who has tickets."""

    kdc: Kdc
    service: Path
    users: Path
    ann: Path

    def kerberos(self, **changed: str) -> KerberosService:
        told = {"keytab": str(self.service), "principal": SERVICE, **changed}
        return KerberosService(KerberosSettings("jaas", rules=tuple(RULES.split(",")), **told))

    def ticket(self, cache: Path | None = None, service: str = SERVICE) -> Ticket:
        return Ticket(gssapi(), cache or self.ann, service)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    kdc = Kdc(tmp_path_factory.mktemp("kdc")).start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in kdc.environment.items():
            patch.setenv(name, value)
        users = kdc.keytab("ann", "Loader/plant", "HTTP/127.0.0.1")
        service = kdc.keytab(SERVICE, JAVAS_SERVICE)
        yield World(kdc, service, users, kdc.tickets(users, "ann"))
    kdc.stop()


def log_in(exchange: GssapiExchange, ticket: Ticket, identity: bytes = b"") -> str | None:
    answer = exchange.take(ticket.token()).answer
    assert ticket.token(answer) == b""
    offer = exchange.take(b"")
    assert offer.user is None
    assert ticket.offer(offer.answer) == bytes((NO_LAYER, 0, 0, 0))
    return exchange.take(ticket.choice(NO_LAYER, identity)).user


def refused(exchange: GssapiExchange, *messages: bytes) -> str:
    """Return the reason, of which the client gets to know nothing."""
    *before, last = messages
    for message in before:
        exchange.take(message)
    with pytest.raises(LoginRefused) as refusal:
        exchange.take(last)
    assert str(refusal.value) == TOLD
    return refusal.value.reason


def test_it_is_who_the_ticket_says(world: World) -> None:
    service = world.kerberos()
    assert log_in(service.begin(), world.ticket()) == "ann"
    # Like Kafka: who it would like to be changes nothing.
    assert log_in(service.begin(), world.ticket(), b"admin") == "ann"
    loader = world.ticket(world.kdc.tickets(world.users, "Loader/plant"))
    assert log_in(service.begin(), loader) == "LOADER"


def test_tickets_that_prove_nothing(world: World) -> None:
    service = world.kerberos()
    token = world.ticket().token()
    service.begin().take(token)
    assert refused(service.begin(), token) == "Request is a replay"
    other = world.ticket(service="HTTP/127.0.0.1").token()
    assert "Cannot decrypt ticket for HTTP/127.0.0.1" in refused(service.begin(), other)
    # The service gets other keys, and has not kept those that tickets were made with.
    renewed, keytab = f"renewed/plant@{REALM}", world.kdc.folder / "renewed.keytab"
    world.kdc.keytab(renewed)
    token = world.ticket(service=renewed).token()
    world.kdc.new_keys(renewed, keytab)
    service = world.kerberos(keytab=str(keytab), principal=renewed)
    assert "kvno" in refused(service.begin(), token)


def short_lived_token(world: World) -> bytes:
    """Return nothing where the machine was so busy that the ticket expired before its use."""
    ticket = world.ticket(world.kdc.tickets(world.users, "ann", "-l", "1s"))
    try:
        return ticket.token()
    except KerberosError as error:
        if str(error) != "Ticket expired":
            raise
        return b""


def test_old_tickets_and_clocks_that_differ(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    service = world.kerberos()
    late, later = world.ticket().token(), world.ticket().token()
    short_lived = wait_for(lambda: short_lived_token(world))
    made = time()
    wait_for(lambda: time() > made + 3.5)
    # Five minutes' difference is taken unless it is said otherwise.
    assert service.begin().take(late).answer
    strict = world.kdc.write_config("strict.conf", "clockskew = 1")
    monkeypatch.setenv("KRB5_CONFIG", str(strict))
    assert refused(service.begin(), short_lived) == "Ticket expired"
    assert refused(service.begin(), later) == "Clock skew too great"


def test_the_protection_is_none_or_nothing(world: World) -> None:
    service = world.kerberos()

    def established() -> tuple[GssapiExchange, Ticket]:
        exchange, ticket = service.begin(), world.ticket()
        ticket.token(exchange.take(ticket.token()).answer)
        return exchange, ticket

    exchange, _ = established()
    assert "nothing to say" in refused(exchange, b"hello")
    exchange, ticket = established()
    assert "protection 2" in refused(exchange, b"", ticket.choice(INTEGRITY))
    exchange, ticket = established()
    assert "too short" in refused(exchange, b"", ticket.wrapped(b"\1"))
    exchange, ticket = established()
    signed = bytearray(ticket.choice(NO_LAYER))
    signed[-1] ^= 1
    assert refused(exchange, b"", bytes(signed))
    exchange, ticket = established()
    exchange.take(b"")
    choice = ticket.choice(NO_LAYER)
    assert exchange.take(choice).user == "ann"
    assert "logged in before" in refused(exchange, choice)


def test_all_that_the_library_gives_out_is_given_back(world: World) -> None:
    """Logins that succeed, that break off after each message, and garbage of all kinds."""
    library, dice = gssapi(), random.Random(14)
    gc.collect()
    held = library.held
    service = world.kerberos()
    good = world.ticket().token()
    # What nobody has signed of it may change; then it is a replay.
    service.begin().take(good)
    for _ in range(often(100, in_soak=2000)):
        assert log_in(service.begin(), world.ticket()) == "ann"
        ticket, broken_off = world.ticket(), service.begin()
        broken_off.take(ticket.token())
        broken = bytearray(good)
        for _ in range(dice.randrange(1, 6)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        cut = good[: dice.randrange(len(good))]
        for garbage in (bytes(broken), cut, good + b"\0", dice.randbytes(dice.randrange(600)), b""):
            refused(service.begin(), garbage)
        exchange, ticket = service.begin(), world.ticket()
        ticket.token(exchange.take(ticket.token()).answer)
        refused(exchange, b"", dice.randbytes(dice.randrange(80)))
    gc.collect()
    # There are the service's key, a name of the last client's, and two contexts.
    assert library.held - held == 4
    del broken_off, exchange, ticket, service
    assert library.held == held


def test_a_keytab_that_is_of_no_use(world: World) -> None:
    with pytest.raises(ConfigError, match="Key table file '/nowhere' not found"):
        world.kerberos(keytab="/nowhere")
    with pytest.raises(ConfigError, match="No key table entry found for kafka/elsewhere"):
        world.kerberos(principal="kafka/elsewhere")


@dataclass
class Doors:
    """A broker that takes tickets."""

    broker: SecuredBroker
    world: World
    port: int

    @property
    def address(self) -> str:
        return self.broker.address("SASL_PLAINTEXT")


@pytest.fixture(scope="module")
def doors(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    (page,) = [each for each in blocks(ROOT / "docs/security.md", "properties") if "gssapi" in each]
    for name, here in (
        ("/etc/headwater/kafka.keytab", str(world.service)),
        ("kafka/kafka.plant.example@PLANT.EXAMPLE", SERVICE),
        ("PLANT.EXAMPLE", REALM),
        ("sasl_ssl", "sasl_plaintext"),
    ):
        page = page.replace(name, here)
    settings = dict(line.split("=", 1) for line in page.splitlines() if line)
    settings["connections.max.reauth.ms"] = "600000"
    jaas = settings["listener.name.sasl_plaintext.gssapi.sasl.jaas.config"]
    settings["listener.name.java.gssapi.sasl.jaas.config"] = jaas.replace(SERVICE, JAVAS_SERVICE)
    listeners = {"SASL_PLAINTEXT": "SASL_PLAINTEXT", "JAVA": "SASL_PLAINTEXT"}
    broker = SecuredBroker(tmp_path_factory.mktemp("broker") / "data", listeners, settings).start()
    yield Doors(broker, world, broker.port_of("SASL_PLAINTEXT"))
    broker.stop()


@pytest.mark.needs("kcat")
def test_kcat_writes_and_reads(doors: Doors, topic: str, tmp_path: Path) -> None:
    options = {
        "bootstrap.servers": doors.address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.keytab": str(doors.world.users),
        "sasl.kerberos.principal": "ann",
    }
    given = [part for item in options.items() for part in ("-X", "=".join(item))]
    environment = {**os.environ, "KRB5CCNAME": str(tmp_path / "kcat.cc")}
    wrote = subprocess.run(
        ["kcat", "-P", "-t", topic, *given], input="by ticket\n", text=True, capture_output=True,
        env=environment, timeout=180, check=False,
    )  # fmt: skip
    assert wrote.returncode == 0, wrote
    read = subprocess.run(
        ["kcat", "-C", "-t", topic, "-o", "beginning", "-c", "1", *given], text=True,
        capture_output=True, env=environment, timeout=180, check=False,
    )  # fmt: skip
    assert read.stdout == "by ticket\n", read


def test_javas_tools_write_and_read(doors: Doors, topic: str, tmp_path: Path) -> None:
    lacking = missing()
    if lacking is not None:
        unmet(lacking)
    properties = tmp_path / "ann.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\n"
        "sasl.kerberos.service.name=kafka\n"
        "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true"
        f' storeKey=true keyTab="{doors.world.users}" principal="ann@{REALM}";\n'
    )
    tools = KafkaTools(f"-Djava.security.krb5.conf={doors.world.kdc.config}")
    where = ("--bootstrap-server", doors.broker.address("JAVA"), "--topic", topic)
    there = (*where, "--command-config", str(properties))
    try:
        wrote = tools.run("kafka-console-producer", *there, stdin=b"by Java's ticket\n")
        assert wrote.code == 0, wrote.text
        read = tools.run(
            "kafka-console-consumer", *there, "--from-beginning", "--max-messages", "1",
            "--timeout-ms", str(int(HUNG_AFTER_S * 1000)),
        )  # fmt: skip
    finally:
        tools.close()
    assert "by Java's ticket" in read.text, read.text


@pytest.mark.parametrize("version", [0, 1])
def test_logging_in_message_by_message(doors: Doors, version: int) -> None:
    ticket = doors.world.ticket()
    with RawClient(doors) as client:
        assert client.call("sasl_handshake", version, mechanism="GSSAPI").error_code == 0

        def say(message: bytes) -> bytes:
            if version:
                answer = client.call("sasl_authenticate", 2, auth_bytes=message)
                assert answer.error_code == 0, answer
                return bytes(answer.auth_bytes)
            client.send_frame(message)
            return client.receive_frame()

        assert ticket.token(say(ticket.token())) == b""
        assert ticket.offer(say(b"")) == bytes((NO_LAYER, 0, 0, 0))
        assert say(ticket.choice(NO_LAYER)) == b""
        assert client.call("metadata", 1, topics=None).brokers


def test_a_client_is_not_told_what_is_wrong_with_its_ticket(doors: Doors) -> None:
    token = doors.world.ticket().token()
    for expected in (0, 58):
        with RawClient(doors) as client:
            assert client.call("sasl_handshake", 1, mechanism="GSSAPI").error_code == 0
            answer = client.call("sasl_authenticate", 2, auth_bytes=token)
            assert answer.error_code == expected
    assert answer.error_message == TOLD
    assert doors.broker.says("its login by GSSAPI failed: Request is a replay")
    failed = "kafka_server_socket_server_metrics_failed_authentication_total"
    assert Metrics(doors.broker).value(failed, listener="SASL_PLAINTEXT") >= 1
