"""`headwater up` with the real broker and registry: ready, killed, restarted, stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource
from tests.cli_command import Cli, Finished
from tests.platform_process import PlatformProcess
from tests.processes import runs
from tests.unit.up.supervised import HUNG_AFTER_S, Supervised

from headwater.serde import AvroDeserializer, AvroSerializer, SchemaRegistryClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess


UP = [sys.executable, "-m", "headwater", "up", "--free-ports", "--without", "console"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformProcess]:
    """One for all tests that leave it as they found it; it is stopped as by Ctrl-C."""
    with PlatformProcess(tmp_path_factory.mktemp("shared")) as running:
        yield running
        running.stop()


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformProcess]:
    with PlatformProcess(tmp_path) as running:
        yield running


def service(platform: Supervised, name: str) -> psutil.Process:
    (process,) = [
        each for each in platform.processes("-m headwater") if each.cmdline()[4:5] == [name]
    ]
    return process


def register(platform: PlatformProcess, subject: str) -> int:
    from headwater.serde import Schema

    with SchemaRegistryClient(platform.registry_url, retries=10) as registry:
        name = f"E{uuid.uuid4().hex}"
        schema = Schema(f'{{"type": "enum", "name": "{name}", "symbols": ["A"]}}')
        return registry.register_schema(subject, schema)


def test_clients_find_what_the_table_says(shared: PlatformProcess, topic: str) -> None:
    assert "SERVICE\tLISTENS ON\tWHAT" in shared.lines
    admin = AdminClient({"bootstrap.servers": shared.bootstrap_servers})
    assert admin.list_topics(timeout=30).brokers
    producer = Producer({"bootstrap.servers": shared.bootstrap_servers})
    with SchemaRegistryClient(shared.registry_url) as registry:
        data = AvroSerializer(registry, '"string"')("hello", topic)
        assert AvroDeserializer(registry)(data, topic) == "hello"
    producer.produce(topic, data)
    assert producer.flush(30) == 0


def test_all_listen_on_loopback_alone(shared: PlatformProcess) -> None:
    listening = [
        connection.laddr
        for process in shared.processes("headwater")
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert sorted(address.port for address in listening) == sorted(
        int(address.rpartition(":")[2])
        for address in (shared.bootstrap_servers, shared.registry_url)
    )
    assert {address.ip for address in listening} == {"127.0.0.1"}


@pytest.mark.parametrize("name", ["broker", "registry"])
def test_a_service_that_is_killed_comes_back_on_its_port(
    shared: PlatformProcess, name: str
) -> None:
    first = register(shared, f"before-{name}")
    seen = len(shared.lines)
    killed = service(shared, name)
    killed.kill()
    shared.wait_for(rf"^up +\| .* {name} died \(SIGKILL\) after .* starting it again in 0\.5 s")
    shared.wait_for(rf"^up +\| .* {name} is healthy again")
    assert service(shared, name).pid != killed.pid
    other = "registry" if name == "broker" else "broker"
    assert not [line for line in shared.lines[seen:] if f"{other} died" in line]
    assert register(shared, f"after-{name}") > first


def test_the_data_is_there_after_a_restart(tmp_path: Path) -> None:
    with PlatformProcess(tmp_path) as first:
        schema_id = register(first, "kept")
        first.stop()
    assert (tmp_path / "platform" / "broker" / "meta.properties").is_file()
    with PlatformProcess(tmp_path) as second:
        with SchemaRegistryClient(second.registry_url) as registry:
            assert registry.get_latest_version("kept").id == schema_id
        second.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_clean_and_in_order(platform: PlatformProcess, number: signal.Signals) -> None:
    platform.signal(number)
    assert platform.wait() == 0
    own = [line.split(maxsplit=4)[-1] for line in platform.lines if line.startswith("up ")]
    assert own[-4:] == [
        f"{number.name}: stopping; once more forces it",
        "stopping registry",
        "stopping broker",
        "stopped",
    ]
    assert "broker   | " in platform.text
    assert platform.survivors() == []
    data = platform.directory / "platform" / "broker"
    assert (data / ".kafka_cleanshutdown").exists()


def test_a_second_ctrl_c_forces(platform: PlatformProcess) -> None:
    # Stopped, it cannot obey; only a kill helps.
    service(platform, "registry").suspend()
    platform.signal(signal.SIGINT)
    platform.wait_for("stopping registry")
    platform.signal(signal.SIGINT)
    assert platform.wait() == 130
    assert platform.survivors() == []


def test_nothing_outlives_a_killed_supervisor(platform: PlatformProcess) -> None:
    platform.signal(signal.SIGKILL)
    platform.wait_for_none_left()


def test_a_second_platform_on_the_same_data_says_why_not(
    shared: PlatformProcess, tmp_path: Path
) -> None:
    command = [*UP, "--data"]
    with Supervised([*command, str(shared.directory / "platform")], tmp_path) as second:
        assert second.wait() == 1
        assert f"is run by process {shared.pid} already. Stop it first, or" in second.text
        assert second.survivors() == []


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        offset = taken.getsockname()[1] - 9092
        done = subprocess.run(
            [sys.executable, "-m", "headwater", "up", "--port-offset", str(offset)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=HUNG_AFTER_S,
            check=False,
        )
    assert done.returncode == 1
    assert f"port {offset + 9092}, where the broker should listen" in done.stderr


def test_on_a_cluster_that_is_there_already(broker: BrokerProcess, tmp_path: Path) -> None:
    with PlatformProcess(tmp_path, ["--bootstrap-server", broker.bootstrap_servers]) as platform:
        assert [line.split("\t")[0] for line in platform.lines if "\t" in line] == [
            "SERVICE",
            "registry",
        ]
        register(platform, "elsewhere")
        platform.stop()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert "_schemas" in admin.list_topics(timeout=30).topics


def status(platform: PlatformProcess, *options: str) -> Finished:
    return Cli("")("up", "--status", "--data", platform.directory / "platform", *options)


def test_the_status_tells_what_happened(tmp_path: Path) -> None:
    with PlatformProcess(tmp_path, ["--health-interval", "0.2"]) as platform:
        well = status(platform)
        assert well.code == 0, well
        header, broker, registry = [line.split("\t") for line in well.out.splitlines()]
        assert header[:2] == ["SERVICE", "STATE"]
        assert broker[:2] == ["broker", "healthy"]
        assert platform.bootstrap_servers in broker
        assert registry[:2] == ["registry", "healthy"]
        assert platform.registry_url in registry
        service(platform, "registry").kill()
        platform.wait_for("registry is healthy again")
        stopped = service(platform, "registry")
        stopped.suspend()
        platform.wait_for("registry runs but does not answer")
        ill = status(platform, "--json")
        stopped.resume()
        assert ill.code == 1
        document = json.loads(ill.out)
        assert not document["healthy"]
        assert document["bootstrap_servers"] == platform.bootstrap_servers
        found = {each["name"]: each for each in document["services"]}
        assert found["broker"]["state"] == "healthy"
        assert found["broker"]["pid"] == service(platform, "broker").pid
        assert (
            found["registry"].items()
            >= {
                "state": "unhealthy",
                "reason": "no answer within 5 s",
                "pid": stopped.pid,
                "restarts": 1,
                "last_exit": "SIGKILL",
                "depends_on": ["broker"],
            }.items()
        )
        url = platform.wait_for(r"status on (http://127\.0\.0\.1:\d+)")[1]
        with httpx.Client(base_url=url) as client:
            log = client.get("/services/registry").json()["log"]
            assert any("schema registry listening on" in line for line in log)
            assert client.get("/services/x").status_code == 404
            assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 403
            assert "/services/{name}" in client.get("/openapi.json").json()["paths"]
            platform.wait_for("registry is healthy again", 2)
            assert client.get("/health").json() == {"status": "UP"}
        platform.signal(signal.SIGKILL)
        platform.wait_for_none_left()
        gone = status(platform)
        assert (gone.code, "no platform runs in" in gone.err) == (1, True)


def test_settings_of_a_file_are_used_and_its_passwords_not_shown_by_ps(
    tmp_path: Path, topic: str
) -> None:
    (tmp_path / "headwater.toml").write_text(
        '[broker]\nssl.key.password = "hunter2"\nnum.partitions = 3\n'
        '[registry]\nkafkastore.sasl.password = "hunter2"\nschema.compatibility.level = "FULL"\n'
    )
    with PlatformProcess(tmp_path) as platform:
        assert platform.processes("hunter2") == []
        # They have got their settings nevertheless.
        admin = AdminClient({"bootstrap.servers": platform.bootstrap_servers})
        settings = admin.describe_configs([ConfigResource("broker", "1")])
        (described,) = [each.result(30) for each in settings.values()]
        assert described["num.partitions"].value == "3"
        producer = Producer({"bootstrap.servers": platform.bootstrap_servers})
        producer.produce(topic, b"x")
        assert producer.flush(30) == 0
        assert len(producer.list_topics(topic, 30).topics[topic].partitions) == 3
        config = httpx.get(f"{platform.registry_url}/config").json()
        assert config == {"compatibilityLevel": "FULL"}
        platform.stop()


def test_a_platform_that_starts_in_part_is_stopped(tmp_path: Path) -> None:
    wrong = ["--property", "registry.authentication.users.file=/no/such/file"]
    command = [*UP, "--data", "data"]
    with Supervised([*command, *wrong], tmp_path) as up:
        assert up.wait() == 1
        assert "/no/such/file" in up.text
        assert "registry ended with exit code" in up.text
        assert up.survivors() == []
    assert (tmp_path / "data" / "broker" / ".kafka_cleanshutdown").exists()


def test_nobody_reads_on(tmp_path: Path) -> None:
    command = [*UP, "--data", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as up:
        assert up.stdout is not None
        assert up.stderr is not None
        assert " | " in up.stdout.readline()
        below = [child.pid for child in psutil.Process(up.pid).children(recursive=True)]
        up.stdout.close()
        errors = up.stderr.read()
        assert up.wait(HUNG_AFTER_S) == 0
    assert errors == ""
    assert not [pid for pid in below if runs(pid)]


def test_colours_on_a_terminal(tmp_path: Path) -> None:
    main, terminal = os.openpty()
    command = [*UP, "--data", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, cwd=tmp_path
    ) as up:
        os.close(terminal)
        shown = b""
        while b"Schema Registry" not in shown:
            shown += os.read(main, 1 << 16)
        up.send_signal(signal.SIGINT)
        while True:
            try:
                shown += os.read(main, 1 << 16)
            except OSError:  # how a terminal without a process behind it ends
                break
        assert up.wait(HUNG_AFTER_S) == 0
    os.close(main)
    assert b"\x1b[36mbroker   |\x1b[0m " in shown
    assert b"\x1b[32mregistry |\x1b[0m " in shown
    assert b"\x1b[1mup       |\x1b[0m " in shown
