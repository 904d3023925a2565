"""`headwater up --secure`: nothing in plain text, everybody with a key, and no secret on show."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from tests.differential.kafka_tools import KafkaTools
from tests.platform_process import PlatformProcess
from tests.waiting import HUNG_AFTER_S

from headwater.config.properties import parse_properties
from headwater.security.kit import SecurityKit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secure")


@pytest.fixture(scope="module")
def platform(directory: Path) -> Iterator[PlatformProcess]:
    with PlatformProcess(directory, ["--secure", "--with", "rest,monitor"]) as platform:
        yield platform
        platform.stop()


@pytest.fixture(scope="module")
def kit(directory: Path) -> SecurityKit:
    return SecurityKit(directory / "platform" / "security")


def client(platform: PlatformProcess, kit: SecurityKit, user: str) -> dict[str, Any]:
    properties = parse_properties(kit.user(user).librdkafka.read_text())
    return {**properties, "bootstrap.servers": platform.bootstrap_servers}


def password(kit: SecurityKit, user: str) -> str:
    return parse_properties(kit.user(user).secrets.read_text())["password"]


def get(kit: SecurityKit, url: str, user: str) -> bytes:
    credentials = base64.b64encode(f"{user}:{password(kit, user)}".encode()).decode()
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {credentials}"})
    trust = ssl.create_default_context(cafile=str(kit.authority))
    with urllib.request.urlopen(request, timeout=HUNG_AFTER_S, context=trust) as answer:
        body: bytes = answer.read()
    return body


def urls(platform: PlatformProcess) -> dict[str, str]:
    rows = [line.split("\t") for line in platform.lines if line.count("\t") == 2]
    return {name: address for name, address, _ in rows if address.startswith("https://")}


def test_users_do_what_they_may(platform: PlatformProcess, kit: SecurityKit) -> None:
    demo = AdminClient(client(platform, kit, "demo"))
    demo.create_topics([NewTopic("demo-orders", 1)])["demo-orders"].result(HUNG_AFTER_S)
    with pytest.raises(KafkaException) as refused:
        demo.create_topics([NewTopic("orders", 1)])["orders"].result(HUNG_AFTER_S)
    assert refused.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    delivered: list[Any] = []
    producer = Producer(client(platform, kit, "demo"))
    producer.produce("demo-orders", b"1", on_delivery=lambda error, _: delivered.append(error))
    producer.flush(HUNG_AFTER_S)
    assert delivered == [None]
    admin = AdminClient(client(platform, kit, "admin"))
    admin.create_topics([NewTopic("orders", 1)])["orders"].result(HUNG_AFTER_S)
    assert {"orders", "_schemas"} <= admin.list_topics(timeout=HUNG_AFTER_S).topics.keys()
    assert "orders" not in demo.list_topics(timeout=HUNG_AFTER_S).topics


def test_services_ask_who_it_is(platform: PlatformProcess, kit: SecurityKit) -> None:
    found = urls(platform)
    assert found.keys() == {"registry", "rest", "monitor"}
    assert get(kit, f"{found['registry']}/subjects", "demo") == b"[]"
    assert b"_schemas" in get(kit, f"{found['rest']}/topics", "admin")
    assert b"kafka_brokers" in get(kit, f"{found['monitor']}/metrics", "admin")
    # With the rights of these, anybody could do everything.
    for name in ("rest", "monitor"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(kit, f"{found[name]}/topics", "demo")


def test_a_certificate_does_instead_of_a_password(
    platform: PlatformProcess, kit: SecurityKit
) -> None:
    url = f"{urls(platform)['monitor']}/metrics"
    for user, status in (("admin", 200), ("demo", 401)):
        shows = ssl.create_default_context(cafile=str(kit.authority))
        shows.load_cert_chain(kit.user(user).certificate, kit.user(user).key)
        try:
            answer = urllib.request.urlopen(url, timeout=HUNG_AFTER_S, context=shows)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            assert answer.status == status


def test_the_status_is_for_the_owner(platform: PlatformProcess, directory: Path) -> None:
    command = [sys.executable, "-m", "headwater", "up", "--status", "--json"]
    shown = subprocess.run(
        [*command, "--data", str(directory / "platform")],
        capture_output=True, text=True, check=True, timeout=HUNG_AFTER_S,
    )  # fmt: skip
    assert json.loads(shown.stdout)["healthy"]
    assert platform.text.count("headwater topics list -b") == 2


def test_nothing_listens_in_plain_text(platform: PlatformProcess) -> None:
    process = psutil.Process(platform.pid)
    ports = {
        connection.laddr.port
        for each in (process, *process.children(recursive=True))
        for connection in each.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert len(ports) == 5  # the broker, three services and the platform's status
    anybody = ssl.create_default_context()
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    # ApiVersions 0 as a client without TLS sends it, and a request by HTTP.
    kafka = bytes.fromhex("0000000a00120000000000010000")
    for port in ports:
        for plain in (kafka, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), HUNG_AFTER_S) as connection:
                connection.sendall(plain)
                assert not _answered(connection), f"port {port} answers in plain text"
        with (
            socket.create_connection(("127.0.0.1", port), HUNG_AFTER_S) as connection,
            anybody.wrap_socket(connection) as encrypted,
        ):
            assert encrypted.version() in ("TLSv1.2", "TLSv1.3")


def _answered(connection: socket.socket) -> bool:
    """Whether a peer says anything but a TLS alert before it hangs up."""
    try:
        said = connection.recv(4096)
    except ConnectionResetError:
        return False
    return bool(said) and said[:1] != b"\x15"


def test_no_secret_is_on_show(platform: PlatformProcess, kit: SecurityKit) -> None:
    secrets = [
        parse_properties(path.read_text())["password"]
        for path in kit.folder.rglob("secrets.properties")
    ]
    assert len(secrets) == 5
    process = psutil.Process(platform.pid)
    shown = [" ".join(each.cmdline()) for each in process.children(recursive=True)]
    shown += [" ".join(each.environ().values()) for each in process.children(recursive=True)]
    shown.append(platform.text)
    found = urls(platform)
    shown += [get(kit, f"{url}/metrics", "admin").decode() for url in found.values()]
    admin = AdminClient(client(platform, kit, "admin"))
    broker = ConfigResource(ConfigResource.Type.BROKER, "1")
    (described,) = admin.describe_configs([broker]).values()
    shown.append(str({name: entry.value for name, entry in described.result().items()}))
    for text in shown:
        assert not any(secret in text for secret in secrets)


def test_kafkas_own_tools_take_the_properties_for_java(
    platform: PlatformProcess, kit: SecurityKit
) -> None:
    tools = KafkaTools()
    try:
        listed = tools.run(
            "kafka-topics", "--bootstrap-server", platform.bootstrap_servers, "--list",
            "--command-config", str(kit.user("admin").java),
        )  # fmt: skip
    finally:
        tools.close()
    assert listed.code == 0, listed.text
    assert "_schemas" in listed.text
