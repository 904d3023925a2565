"""What Kafka's Connect worker is started with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cluster.connect_worker import ConnectWorkerFiles, is_healthy, with_client_settings
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_plugins_lie_beside_those_that_plugin_path_has(tmp_path: Path) -> None:
    cached = tmp_path / "cache" / "connector-1"
    cached.mkdir(parents=True)
    (cached / "some.jar").touch()
    folder = tmp_path / "worker"
    folder.mkdir()
    files = ConnectWorkerFiles(folder)
    settings = {"plugin.path": "/opt/connectors", "value.converter": "Mine"}
    for _ in range(2):  # also where it was written before
        files.write(settings, [cached])
    written = (folder / "worker.properties").read_text().splitlines()
    assert f"plugin.path=/opt/connectors,{folder}/plugins" in written
    assert "key.converter=org.apache.kafka.connect.json.JsonConverter" in written
    assert "value.converter=Mine" in written
    assert [each.name for each in (folder / "plugins" / "connector-1").iterdir()] == ["some.jar"]
    files.write({})
    assert "plugin.path" not in (folder / "worker.properties").read_text()


def test_the_variables_of_kafkas_scripts_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KAFKA_HEAP_OPTS", "KAFKA_LOG4J_OPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("headwater.cluster.connect_worker.java_command", _command)
    files = ConnectWorkerFiles(tmp_path)
    small = files.distributed_command()
    assert "-Xmx256m" in small
    assert small[0] == "org.apache.kafka.connect.cli.ConnectDistributed"
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx2g")
    monkeypatch.setenv("KAFKA_LOG4J_OPTS", "-Dlog4j2.configurationFile=mine")
    given = files.standalone_command([tmp_path / "a.properties"])
    assert given[:3] == [
        "org.apache.kafka.connect.cli.ConnectStandalone",
        str(tmp_path / "worker.properties"),
        str(tmp_path / "a.properties"),
    ]
    assert "-Xmx2g" in given
    assert given[-1] == "-Dlog4j2.configurationFile=mine"


def _command(main: str, *arguments: str, options: tuple[str, ...]) -> list[str]:
    return [main, *arguments, *options]


def test_connectors_clients_get_in_as_the_worker_does() -> None:
    access = {"bootstrap.servers": "kafka:9093", "security.protocol": "SASL_SSL"}
    own = {"consumer.security.protocol": "SSL", "sasl.mechanism": "PLAIN", "group.id": "mine"}
    assert with_client_settings(own, access) == {
        **access,
        **own,
        "producer.security.protocol": "SASL_SSL",
        "admin.security.protocol": "SASL_SSL",
        "producer.sasl.mechanism": "PLAIN",
        "consumer.sasl.mechanism": "PLAIN",
        "admin.sasl.mechanism": "PLAIN",
    }


def test_nobody_there_is_not_healthy() -> None:
    ports = FreePorts("127.0.0.1")
    try:
        assert not is_healthy("127.0.0.1", ports.pick())
    finally:
        ports.close()
