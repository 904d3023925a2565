"""Apache Kafka and our broker, both locked: who comes in, who does not, and what each is told."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hmac
import ssl
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from tests.conftest import unmet
from tests.differential import secured
from tests.differential.apache_kafka_node import missing
from tests.differential.observation import differences, failure, outcome, plain
from tests.differential.secured import PASSWORDS, TOKEN_KEY, Secured
from tests.integration.raw_client import ConnectionClosedError
from tests.scram_client import ScramClient, log_in
from tests.waiting import wait_for

from headwater.broker.sasl.scram_credentials import ScramMechanism
from headwater.clients.raw.broker_socket import ask
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHA_512 = ScramMechanism.SCRAM_SHA_512
WITHIN_S = 120.0
HOUR = 3_600_000

Both = tuple[Secured, Secured]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    if lacking := missing():
        unmet(lacking)
    folder = tmp_path_factory.mktemp("secured")
    secured.write_certificates(folder)
    told = secured.settings(folder)
    with secured.headwater(folder, told) as ours, secured.kafka(folder, told) as kafka:
        for engine in (kafka, ours):
            secured.create_users(engine)
        # The node hears of users by itself.
        wait_for(lambda: not scram(kafka, "bob").error_code)
        yield kafka, ours


def same(both: Both, program: Callable[[Secured], Any]) -> Any:
    def run(engine: Secured) -> Any:
        try:
            return program(engine)
        except BaseException as error:
            error.add_note(f"on {engine.name}")
            raise

    with ThreadPoolExecutor(2) as pool:
        kafka, ours = pool.map(run, both)
    unlike = [
        f"{path}: Kafka {theirs!r}, we {mine!r}" for path, theirs, mine in differences(kafka, ours)
    ]
    assert not unlike, "\n".join(unlike)
    return ours


def scram(engine: Secured, user: str, password: str | None = None, extensions: str = "") -> Any:
    """Log in without TLS and return the last answer."""
    with engine.raw("SASL_PLAINTEXT") as client:
        attempt = ScramClient(SHA_512, user, password or PASSWORDS[user], extensions)
        return log_in(client, SHA_512, attempt)


@contextlib.contextmanager
def logged_in(engine: Secured, user: str, password: str | None = None, more: str = "") -> Any:
    with engine.raw("SASL_PLAINTEXT") as client:
        attempt = ScramClient(SHA_512, user, password or PASSWORDS[user], more)
        assert not log_in(client, SHA_512, attempt).error_code
        yield client


def test_logins(both: Both) -> None:
    def by_message(engine: Secured, mechanism: str, message: bytes) -> Any:
        with engine.raw("SASL_PLAINTEXT") as client:
            shaken = client.call("sasl_handshake", 1, mechanism=mechanism)
            try:
                answer = client.call("sasl_authenticate", 2, auth_bytes=message)
            except ConnectionClosedError:
                return [shaken.error_code.name, sorted(shaken.mechanisms), "closed"]
            closes = client.is_closed_by_broker() if answer.error_code else False
            return [shaken.error_code.name, answer.error_code.name, closes]

    def program(engine: Secured) -> Any:
        seen = {
            "plain": by_message(engine, "PLAIN", b"\0ann\0" + PASSWORDS["ann"].encode()),
            "wrong password": by_message(engine, "PLAIN", b"\0ann\0guessed"),
            "unknown user": by_message(engine, "PLAIN", b"\0eve\0guessed"),
            "for somebody else": by_message(
                engine, "PLAIN", b"bob\0ann\0" + PASSWORDS["ann"].encode()
            ),
            "no password": by_message(engine, "PLAIN", b"\0ann\0"),
            "garbage": by_message(engine, "PLAIN", b"garbage"),
            "scram garbage": by_message(engine, "SCRAM-SHA-512", b"garbage"),
            "mechanism that is not enabled": by_message(engine, "OAUTHBEARER", b"n,,"),
            "scram": scram(engine, "ann").error_code.name,
            "scram, wrong password": scram(engine, "ann", "guessed").error_code.name,
            "scram, unknown user": scram(engine, "eve", "guessed").error_code.name,
            "no such token": scram(engine, "eve", "x", ",tokenauth=true").error_code.name,
        }
        with engine.raw("SASL_PLAINTEXT") as client:
            client.send("metadata", 12, topics=None)
            seen["a request before the login"] = client.is_closed_by_broker()
        for user, mechanism in (("ann", "PLAIN"), ("bob", "SCRAM-SHA-256")):
            admin = confluent_kafka.admin.AdminClient(engine.access(user, mechanism))
            seen[f"{user} by {mechanism}"] = bool(admin.list_topics(timeout=WITHIN_S).brokers)
        return seen

    seen = same(both, program)
    assert seen["scram"] == "none"
    assert seen["scram, wrong password"] == "sasl_authentication_failed"


def test_requests_within_a_login(both: Both) -> None:
    def answered(engine: Secured, api: str, version: int, *before: str, **body: Any) -> Any:
        with engine.raw("SASL_PLAINTEXT") as client:
            for earlier in before:
                client.call(earlier, 1, mechanism="PLAIN")
            try:
                answer = client.call(api, version, **body)
            except ConnectionClosedError:
                return "closed"
            closes = client.is_closed_by_broker()
            said = dataclasses.asdict(answer)
            # Kafka tells its own version in answers that have room for nothing else.
            said.pop("api_keys", None)
            return [repr(sorted(said.items())), closes]

    def program(engine: Secured) -> Any:
        records = encode_batch([Record(0, 0, None, b"x")])
        batch = {"partition_data": [{"index": 0, "records": records}]}
        written = {"acks": -1, "timeout_ms": 100, "topic_data": [{"name": "a", **batch}]}
        seen = {}
        for before in ((), ("sasl_handshake",)):
            for name, version, body in (
                ("sasl_handshake", 1, {"mechanism": "PLAIN"}),
                ("produce", 9, written),
                ("produce", 9, {**written, "acks": 0}),
                ("metadata", 9, {"topics": [{"name": "a"}, {"name": "b"}]}),
                ("metadata", 9, {"topics": None}),
                ("find_coordinator", 3, {"key": "g"}),
                ("list_groups", 4, {}),
                ("join_group", 5, {"group_id": "g"}),
                ("init_producer_id", 4, {}),
                ("heartbeat", 4, {"group_id": "g"}),
            ):
                if before or name != "sasl_handshake":
                    told = answered(engine, name, version, *before, **body)
                    seen[f"{name} {sorted(body)} {body.get('acks')} after {before}"] = told
        return seen

    seen = same(both, program)
    assert "closed" in seen.values()
    assert any("illegal_sasl_state" in each[0] for each in seen.values())


def test_certificates_and_versions_of_tls(both: Both) -> None:
    def comes_in(engine: Secured, context: ssl.SSLContext, listener: str = "SSL") -> bool:
        try:
            with engine.raw(listener, context) as client:
                return bool(client.call("api_versions", 0).api_keys)
        except (ssl.SSLError, ConnectionError, ConnectionClosedError):
            return False

    def old(engine: Secured) -> ssl.SSLContext:
        context = engine.tls("carol")
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        return context

    def up_to_1_2(engine: Secured) -> ssl.SSLContext:
        context = engine.tls("carol")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        return context

    def program(engine: Secured) -> Any:
        seen: dict[str, Any] = {
            name: comes_in(engine, engine.tls(certificate))
            for name, certificate in (
                ("a good one", "carol"), ("none", None), ("expired", "expired"),
                ("of a stranger", "stranger"), ("self-signed", "self-signed"),
            )
        }  # fmt: skip
        seen["TLS 1.2"] = comes_in(engine, up_to_1_2(engine))
        seen["older"] = comes_in(engine, old(engine))
        seen["TLS to a plain port"] = comes_in(engine, engine.tls("carol"), "PLAINTEXT")
        with engine.raw("SSL") as client:
            client.send("api_versions", 3)
            # Whoever speaks plain text to TLS may be sent an alert before the end.
            with contextlib.suppress(ConnectionError):
                while client.socket.recv(100):
                    continue
            seen["plain text to a TLS port"] = "closed"
        return seen

    seen = same(both, program)
    assert [name for name, came_in in seen.items() if came_in is True] == ["a good one", "TLS 1.2"]


def grant(engine: Secured, user: str, *rights: tuple[ResourceType, str, AclOperation]) -> None:
    acls = [
        AclBinding(
            kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation,
            AclPermissionType.ALLOW,
        )
        for kind, name, operation in rights
    ]  # fmt: skip
    for done in engine.admin.create_acls(acls).values():
        done.result(WITHIN_S)


def produce(engine: Secured, topic: str) -> Any:
    told: list[Any] = []
    producer = confluent_kafka.Producer(engine.access("bob"))
    producer.produce(topic, b"v", on_delivery=lambda error, _: told.append(failure(error)))
    assert producer.flush(WITHIN_S) == 0
    return told


@contextlib.contextmanager
def consumer_of(engine: Secured, topic: str, group: str) -> Iterator[confluent_kafka.Consumer]:
    given = {
        "group.id": group,
        "auto.offset.reset": "earliest",
        "topic.metadata.refresh.interval.ms": 100,
    }
    consumer = confluent_kafka.Consumer({**engine.access("bob"), **given})
    try:
        consumer.subscribe([topic])
        yield consumer
    finally:
        consumer.close()


def consume(engine: Secured, topic: str, group: str) -> Any:
    with consumer_of(engine, topic, group) as consumer:
        message = wait_for(lambda: consumer.poll(1.0))
        return failure(message.error()) or message.value()


def refused_twice(engine: Secured, topic: str, group: str) -> list[Any]:
    """Return what two different errors say; which comes first is the client's affair."""
    told: set[Any] = set()
    with consumer_of(engine, topic, group) as consumer:

        def heard() -> bool:
            if (message := consumer.poll(1.0)) is not None:
                told.add(failure(message.error()))
            return len(told) > 1

        wait_for(heard, lambda: f"a second error beside {told}")
    return sorted(told)


def transact(engine: Secured, topic: str) -> Any:
    producer = confluent_kafka.Producer({**engine.access("bob"), "transactional.id": "tx"})

    def run() -> Any:
        producer.init_transactions(WITHIN_S)
        producer.begin_transaction()
        producer.produce(topic, b"v")
        producer.flush(WITHIN_S)
        producer.commit_transaction(WITHIN_S)
        return "committed"

    return outcome(run)


def test_rights_of_producers_consumers_groups_and_transactions(both: Both) -> None:
    topic, group, tx = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
    read, write, describe = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE

    def program(engine: Secured) -> Any:
        for done in engine.admin.create_topics([NewTopic("orders", 1)]).values():
            done.result(WITHIN_S)
        seen: list[Any] = [
            produce(engine, "orders"), refused_twice(engine, "orders", "g"),
            transact(engine, "orders"),
        ]  # fmt: skip
        grant(engine, "bob", (topic, "orders", describe), (group, "g", read))
        seen.append([produce(engine, "orders"), consume(engine, "orders", "g")])
        grant(engine, "bob", (topic, "orders", write))
        wait_for(lambda: produce(engine, "orders") == [None])
        seen.append(consume(engine, "orders", "g"))
        grant(engine, "bob", (topic, "orders", read))
        wait_for(lambda: consume(engine, "orders", "g") == b"v")
        seen.append([consume(engine, "orders", "another"), transact(engine, "orders")])
        grant(engine, "bob", (tx, "tx", write), (tx, "tx", describe))
        seen.append(wait_for(lambda: transact(engine, "orders"), until=lambda s: s == "committed"))
        return seen

    seen = same(both, program)
    assert seen[0] == ["error:TOPIC_AUTHORIZATION_FAILED"]
    assert seen[1] == ["error:GROUP_AUTHORIZATION_FAILED", "error:TOPIC_AUTHORIZATION_FAILED"]


def token_call(client: Any, verb: str, version: int, body: dict[str, Any]) -> Any:
    """Ask with our own decoder: a time that is none, -1, is not read by kio's."""
    return ask(client.socket, ApiKey[f"{verb}_DELEGATION_TOKEN"], version, body)


def test_delegation_tokens(both: Both) -> None:
    def created(client: Any, **given: Any) -> Any:
        body = {"renewers": [], "max_lifetime": HOUR, **given}
        seen = plain(token_call(client, "CREATE", 3, body))
        for name in ("issue_timestamp", "expiry_timestamp", "max_timestamp"):
            seen[name] = seen[name] is not None
        name, mac = seen.pop("token_id"), seen.pop("hmac")
        right = hmac.digest(TOKEN_KEY.encode(), name.encode(), "sha512")
        return seen, name, mac, mac == right

    def program(engine: Secured) -> Any:
        seen: list[Any] = []
        bob_renews = [{"principal_type": "User", "principal_name": "bob"}]
        other = {"owner_principal_type": "User", "owner_principal_name": "bob"}
        with logged_in(engine, "ann") as ann, logged_in(engine, "bob") as bob:
            answer, name, mac, is_kafkas = created(ann, renewers=bob_renews)
            seen += [answer, len(name), len(mac), is_kafkas]
            seen.append(created(ann, **other)[0])
            group = [{"principal_type": "Group", "principal_name": "g"}]
            seen.append(created(ann, renewers=group)[0])
            password = base64.b64encode(mac).decode()
            # The node that has made it tells the others, itself among them.
            wait_for(lambda: not scram(engine, name, password, ",tokenauth=true").error_code)
            for owners in (None, [], bob_renews):
                told = token_call(bob, "DESCRIBE", 3, {"owners": owners})
                seen.append([told.error_code, [t.token_id == name for t in told.tokens]])
            for client, given in ((ann, mac), (bob, mac), (ann, b"unknown")):
                told = token_call(client, "RENEW", 2, {"hmac": given, "renew_period": HOUR})
                seen.append([told.error_code, told.expiry_timestamp is not None])
            with logged_in(engine, name, password, ",tokenauth=true") as by_token:
                seen.append(created(by_token)[0])
                told = token_call(by_token, "DESCRIBE", 3, {"owners": None})
                seen.append(plain(told))
                told = token_call(by_token, "EXPIRE", 2, {"hmac": mac, "expiry_time_period": -1})
                seen.append(plain(told))
            with logged_in(engine, "bob") as again:
                ending = {"hmac": mac, "expiry_time_period": -1}
                told = token_call(again, "EXPIRE", 2, ending)
                seen.append([told.error_code, told.expiry_timestamp is not None])
            wait_for(lambda: scram(engine, name, password, ",tokenauth=true").error_code)
            told = token_call(ann, "RENEW", 2, {"hmac": mac, "renew_period": HOUR})
            seen.append(plain(told))
        with engine.raw("PLAINTEXT") as anonymous:
            seen.append(created(anonymous)[0])
        with engine.raw("SSL", engine.tls("carol")) as carol:
            answer, *_, is_kafkas = created(carol)
            seen += [answer, is_kafkas]
        return seen

    seen = same(both, program)
    assert seen[0]["error_code"] == "none"
    assert seen[-2]["principal_name"] == "carol"
