"""A pipeline on Avro, with a registry that has a private authority and wants a password."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as ConfluentsClient
from tests.certificates import certificate_for_loopback
from tests.cli_command import Cli
from tests.registry_process import RegistryProcess

from headwater.clients import RegistryAccess
from headwater.serde import SchemaRegistryClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READING = {
    "type": "record",
    "name": "Reading",
    "fields": [{"name": "id", "type": "string"}, {"name": "value", "type": "double"}],
}


@pytest.fixture(scope="module")
def registry(
    bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryProcess]:
    directory = tmp_path_factory.mktemp("secured")
    certificate, key = certificate_for_loopback(directory)
    (directory / "users.txt").write_text("ann: secret\n")
    process = RegistryProcess(
        bootstrap_servers,
        [
            *("--certificate", str(certificate), "--key", str(key)),
            *("--users", str(directory / "users.txt")),
            *("--topic", "_schemas_secured", "--group", "secured"),
        ],
    )
    process.ca_file = str(certificate)
    process.user = ("ann", "secret")
    process.start()
    yield process
    process.stop()


def test_a_program_reads_and_writes_avro(
    bootstrap_servers: str, registry: RegistryProcess, tmp_path: Path, topic: str
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        f"schema.registry.url={registry.url}\n"
        "basic.auth.credentials.source=USER_INFO\nbasic.auth.user.info=ann:secret\n"
        f"schema.registry.ssl.truststore.location={registry.ca_file}\n"
        "schema.registry.ssl.truststore.type=PEM\n"
    )
    schema = tmp_path / "reading.avsc"
    schema.write_text(json.dumps(READING))
    program = tmp_path / "warm.py"
    program.write_text(
        "from headwater.streams import App, col\n"
        "app = App('warm', registry_url='http://nobody.invalid:1')\n"
        f"readings = app.stream('{topic}', value='avro')\n"
        f"readings.filter(col('value') > 1).to('{topic}-warm', value='avro')\n"
    )
    cli = Cli(bootstrap_servers)
    secured = ("--command-config", file)
    avro = ("--value-format", "avro", *secured)
    cli.ok("topics", "create", topic)
    cli.ok(
        *("produce", topic, "--value-schema", schema, *avro),
        stdin='{"id": "a", "value": 1.0}\n{"id": "b", "value": 2.0}\n',
    )
    cli.ok("run", program, "--once", "--checkpoint-dir", tmp_path / "checkpoint", *secured)
    results = cli.records(f"{topic}-warm", *avro)
    assert [each["value"] for each in results] == [
        {"id": {"string": "b"}, "value": {"double": 2.0}}
    ]
    subjects = [each["subject"] for each in cli.json("schemas", "list", *secured)]
    assert {f"{topic}-value", f"{topic}-warm-value"} <= set(subjects)


def test_confluents_client_is_told_the_same(registry: RegistryProcess) -> None:
    access = RegistryAccess(
        (registry.url,), username="ann", password="secret", ca_file=registry.ca_file
    )
    ours = SchemaRegistryClient(access).get_subjects()
    assert ConfluentsClient(access.confluent()).get_subjects() == ours


def test_the_same_by_options_and_by_the_environment(
    bootstrap_servers: str, registry: RegistryProcess
) -> None:
    cli = Cli(bootstrap_servers)
    where = ("--registry", registry.url, "--registry-ca", registry.ca_file)
    refused = cli("schemas", "list", *where)
    assert refused.code == 1
    assert "401" in refused.err
    refused = cli("schemas", "list", "--registry", registry.url)
    assert refused.code == 1
    assert "is not trusted" in refused.err
    assert "--registry-ca" in refused.err
    cli.ok("schemas", "list", *where, "--registry-user", "ann:secret")
    cli.environment |= {
        "HEADWATER_REGISTRY": registry.url,
        "HEADWATER_REGISTRY_USER": "ann:secret",
        "HEADWATER_REGISTRY_CA": str(registry.ca_file),
    }
    cli.ok("schemas", "list")
