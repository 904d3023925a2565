"""`headwater schemas`, and produce and consume with schemas, against a running platform."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli
from tests.platform_process import PlatformProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READING = {
    "type": "record",
    "name": "Reading",
    "namespace": "plant",
    "fields": [
        {"name": "sensor_id", "type": "string"},
        {"name": "datetime", "type": "long"},
        {"name": "value", "type": ["null", "long"]},
    ],
}
WITH_UNIT = {**READING, "fields": [*READING["fields"], {"name": "unit", "type": "string"}]}
WITH_DEFAULT = {
    **READING,
    "fields": [*READING["fields"], {"name": "unit", "type": "string", "default": "C"}],
}
TYPED = '{"sensor_id":"mySensor","datetime":1234,"value":{"long":999}}'


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformProcess]:
    with PlatformProcess(tmp_path_factory.mktemp("platform")) as running:
        yield running
        running.stop()


@pytest.fixture
def cli(platform: PlatformProcess) -> Cli:
    cli = Cli(platform.bootstrap_servers)
    cli.environment["HEADWATER_REGISTRY"] = platform.registry_url
    return cli


@pytest.fixture
def reading(tmp_path: Path) -> Path:
    return write(tmp_path, "reading.avsc", READING)


def write(directory: Path, name: str, schema: object) -> Path:
    path = directory / name
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return path


def values(cli: Cli, topic: str, *options: str) -> list[str]:
    return cli.ok("consume", topic, "--from-beginning", "--until-end", *options).splitlines()


def test_what_is_typed_comes_back(cli: Cli, topic: str, reading: Path) -> None:
    cli.ok(
        *("produce", topic, "--value-format", "avro", "--value-schema", reading),
        stdin=f"{TYPED}\n" * 3,
    )
    assert values(cli, topic, "--value-format", "avro") == [TYPED] * 3
    (raw,) = {base64.b64decode(record["value_base64"]) for record in cli.records(topic)}
    assert raw[:4] == b"\0\0\0\0"
    assert raw[5:] == b"\x10mySensor\xa4\x13\x02\xce\x0f"
    # With the schema registered, its file is not needed any more.
    cli.ok("produce", topic, "--value-format", "avro", stdin=TYPED.replace("999", "1000"))
    assert values(cli, topic, "--value-format", "avro")[-1] == TYPED.replace("999", "1000")


@pytest.mark.parametrize(
    ("kind", "name", "schema", "typed", "printed"),
    [
        (
            "protobuf",
            "r.proto",
            'syntax = "proto3"; message R { string id = 1; int64 value = 2; repeated bool n = 3; }',
            '{"id": "a", "value": 999}',
            '{"id":"a","value":"999","n":[]}',
        ),
        (
            "jsonschema",
            "r.json",
            {"type": "object", "properties": {"id": {"type": "string"}}},
            '{"id": "ü", "more": [1, 2.5]}',
            '{"id":"ü","more":[1,2.5]}',
        ),
    ],
)
def test_other_formats(
    cli: Cli,
    topic: str,
    tmp_path: Path,
    kind: str,
    name: str,
    schema: object,
    typed: str,
    printed: str,
) -> None:
    path = write(tmp_path, name, schema)
    cli.ok("produce", topic, "--value-format", kind, "--value-schema", path, stdin=typed)
    assert values(cli, topic, "--value-format", kind) == [printed]
    cli.ok("produce", topic, "--value-format", kind, stdin=printed)
    assert values(cli, topic, "--value-format", kind) == [printed] * 2


def test_keys_too_and_json_lines_round(cli: Cli, topic: str, reading: Path) -> None:
    cli.ok(
        *("produce", topic, "--key-format", "avro", "--key-schema", reading, "--json"),
        *("--value-format", "double", "--header", "h=1"),
        stdin=f'{{"key": {TYPED}, "value": 1.5}}\n',
    )
    formats = ("--key-format", "avro", "--value-format", "double")
    assert values(cli, topic, "--keys", *formats) == [f"{TYPED}\t1.5"]
    (record,) = cli.records(topic, *formats)
    assert (record["key"], record["value"]) == (json.loads(TYPED), 1.5)
    # What consume --json prints is what produce --json reads.
    cli.ok("produce", topic, "--json", *formats, stdin=json.dumps(record))
    first, second = cli.records(topic)
    assert first["key_base64"] == second["key_base64"]
    assert first["value_base64"] == second["value_base64"]


def test_a_line_that_does_not_fit(cli: Cli, topic: str, reading: Path) -> None:
    finished = cli(
        *("produce", topic, "--value-format", "avro", "--value-schema", reading),
        stdin=f'{TYPED}\n{{"sensor_id":5}}\n',
    )
    assert finished.code == 1
    assert (
        "line 2: the value as avro: sensor_id: wanted is a text, not 5. Delivered: 1 of 1"
        in finished.err
    )


def test_records_that_are_malformed(cli: Cli, topic: str, reading: Path) -> None:
    avro = ("--value-format", "avro")
    cli.ok("produce", topic, *avro, "--value-schema", reading, "-p", 0, stdin=TYPED)
    cli.ok("produce", topic, "-p", 0, stdin="rubbish")
    cli.ok("produce", topic, *avro, "-p", 0, stdin=TYPED)
    finished = cli("consume", topic, "--from-beginning", "--until-end", *avro)
    assert (finished.code, finished.out) == (1, f"{TYPED}\n")
    assert finished.err.startswith(
        f"Error: {topic} [0] at offset 1, value: it starts with the byte"
    )
    skipped = cli(
        "consume", topic, "--from-beginning", "--until-end", *avro, "--skip-message-on-error"
    )
    assert (skipped.code, skipped.out) == (0, f"{TYPED}\n" * 2)
    assert skipped.err.startswith(f"Skipped: {topic} [0] at offset 1, value: ")


def test_no_registry(cli: Cli, topic: str, reading: Path) -> None:
    away = ("--registry", "http://127.0.0.1:1")
    finished = cli(
        *("produce", topic, "--value-format", "avro", "--value-schema", reading, *away),
        stdin=TYPED,
    )
    assert finished.code == 1
    assert "no schema registry answered (http://127.0.0.1:1: Connection refused)" in finished.err
    assert "Start one with: headwater up" in finished.err
    assert cli("schemas", "list", *away).code == 1


def test_no_schema_yet(cli: Cli, topic: str) -> None:
    finished = cli("produce", topic, "--value-format", "avro", stdin=TYPED)
    assert finished.code == 1
    assert f"{topic}-value" in finished.err
    assert "40401" in finished.err


def test_register_get_and_list(cli: Cli, topic: str, tmp_path: Path, reading: Path) -> None:
    assert cli.ok("schemas", "register", topic, reading).startswith(f"{topic} has it as version 1,")
    first = cli.json("schemas", "register", topic, reading)
    newer = write(tmp_path, "newer.avsc", WITH_DEFAULT)
    second = cli.json("schemas", "register", topic, newer)
    assert (first["version"], second["version"]) == (1, 2)
    assert json.loads(cli.ok("schemas", "get", topic)) == WITH_DEFAULT
    assert json.loads(cli.ok("schemas", "get", topic, "--version", 1)) == READING
    assert json.loads(cli.ok("schemas", "get", "--id", second["id"])) == WITH_DEFAULT
    shown = cli.json("schemas", "get", topic, "--version", 1)
    assert (shown["id"], shown["schemaType"]) == (first["id"], "AVRO")
    line = f"{topic}\t2\t{second['id']}\tAVRO"
    assert line in cli.ok("schemas", "list").splitlines()
    assert cli.ok("schemas", "list", "--prefix", topic).splitlines()[1:] == [line]
    (listed,) = cli.json("schemas", "list", "--prefix", topic)
    assert listed == {"subject": topic, "version": 2, "id": second["id"], "type": "AVRO"}


def test_check_and_a_refused_registration(
    cli: Cli, topic: str, tmp_path: Path, reading: Path
) -> None:
    cli.ok("schemas", "register", topic, reading)
    mandatory = write(tmp_path, "mandatory.avsc", WITH_UNIT)
    for command in ("check", "register"):
        refused = cli("schemas", command, topic, mandatory)
        assert refused.code == 1
        assert refused.err.startswith(f"Error: not compatible with {topic} (BACKWARD):\n")
        assert "unit" in refused.err
        assert "compared with version 1" in refused.err
        assert "errorType" not in refused.err
        assert "{" not in refused.err
    optional = write(tmp_path, "optional.avsc", WITH_DEFAULT)
    assert cli.ok("schemas", "check", topic, optional) == "Compatible (BACKWARD).\n"
    assert cli.ok("schemas", "check", topic, optional, "--version", 1).startswith("Compatible")
    assert cli.ok("schemas", "get", topic) != ""
    assert cli.json("schemas", "get", topic)["version"] == 1


def test_a_refused_schema_of_a_producer_is_told_in_sentences(
    cli: Cli, topic: str, tmp_path: Path, reading: Path
) -> None:
    cli.ok("schemas", "register", f"{topic}-value", reading)
    mandatory = write(tmp_path, "mandatory.avsc", WITH_UNIT)
    refused = cli(
        *("produce", topic, "--value-format", "avro", "--value-schema", mandatory),
        stdin='{"sensor": "a", "time": 1, "value": null, "unit": "kW"}\n',
    )
    assert refused.code == 1
    assert "incompatible with an earlier schema" in refused.err
    assert "unit" in refused.err
    assert "errorType" not in refused.err


def test_a_readers_schema(cli: Cli, topic: str, tmp_path: Path, reading: Path) -> None:
    cli.ok(
        *("produce", topic, "--value-format", "avro", "--value-schema", reading), stdin=f"{TYPED}\n"
    )
    newer = write(tmp_path, "newer.avsc", WITH_DEFAULT)
    read = ("--value-format", "avro", "--value-schema")
    (printed,) = values(cli, topic, *read, str(newer))
    assert json.loads(printed).keys() == json.loads(TYPED).keys() | {"unit"}
    assert values(cli, topic, "--value-format", "avro") == [TYPED]
    # By its subject, the latest version or another one.
    cli.ok("schemas", "register", f"{topic}-value", newer)
    assert values(cli, topic, *read, f"@{topic}-value") == [printed]
    assert values(cli, topic, *read, f"@{topic}-value:1") == [TYPED]
    gone = cli("consume", topic, *read, "no-such-file.avsc")
    assert gone.code == 2
    assert "@SUBJECT:VERSION" in gone.err
    other = cli("consume", topic, "--value-format", "protobuf", "--value-schema", reading)
    assert other.code == 2
    assert "is for avro" in other.err


def test_diff(cli: Cli, topic: str, tmp_path: Path, reading: Path) -> None:
    cli.ok("schemas", "register", topic, reading)
    assert "one version only, 1" in cli("schemas", "diff", topic).err
    newer = write(tmp_path, "newer.avsc", WITH_DEFAULT)
    against_file = cli.ok("schemas", "diff", topic, newer).splitlines()
    assert against_file[:2] == [f"--- {topic} 1", f"+++ {newer}"]
    assert '+      "name": "unit",' in against_file
    cli.ok("schemas", "register", topic, newer)
    last_two = cli.ok("schemas", "diff", topic).splitlines()
    assert last_two == cli.ok("schemas", "diff", topic, 1, 2).splitlines()
    assert last_two[:2] == [f"--- {topic} 1", f"+++ {topic} 2"]
    assert last_two[2:] == against_file[2:]
    same = cli("schemas", "diff", topic, 2, 2)
    assert (same.code, same.out) == (0, "")
    assert f"No difference between {topic} 2 and {topic} 2." in same.err
    assert cli("schemas", "diff", topic, "no-such-file").code == 2
    assert f"{topic} has no such version; it has 1, 2" in cli("schemas", "diff", topic, 1, 9).err


def test_delete(cli: Cli, topic: str, tmp_path: Path, reading: Path) -> None:
    cli.ok("schemas", "register", topic, reading)
    cli.ok("schemas", "register", topic, write(tmp_path, "newer.avsc", WITH_DEFAULT))
    assert f"Deleted version 2 of {topic}." in cli("schemas", "delete", topic, "-v", 2).err
    assert cli.json("schemas", "get", topic)["version"] == 1
    assert f"Deleted {topic}." in cli("schemas", "delete", topic).err
    assert cli("schemas", "get", topic).code == 1
    assert cli.ok("schemas", "list", "--deleted", "--prefix", topic).count(topic) >= 1
    assert f"Deleted {topic} for good." in cli("schemas", "delete", topic, "--permanent").err
    assert cli.json("schemas", "list", "--deleted", "--prefix", topic) == []
    # In one step, from the beginning.
    cli.ok("schemas", "register", topic, reading)
    cli.ok("schemas", "delete", topic, "--permanent")
    assert cli.json("schemas", "list", "--deleted", "--prefix", topic) == []


def test_compatibility(cli: Cli, topic: str, tmp_path: Path, reading: Path) -> None:
    assert cli.ok("schemas", "compatibility") == "BACKWARD\n"
    assert cli.ok("schemas", "compatibility", topic) == "BACKWARD\n"
    assert cli.ok("schemas", "compatibility", topic, "--set", "none") == "NONE\n"
    cli.ok("schemas", "register", topic, reading)
    cli.ok("schemas", "register", topic, write(tmp_path, "newer.avsc", WITH_UNIT))
    assert cli.ok("schemas", "compatibility") == "BACKWARD\n"
    assert cli.ok("schemas", "compatibility", topic, "--reset") == "BACKWARD\n"
    assert cli("schemas", "compatibility", "--reset").code == 2


def test_references(cli: Cli, topic: str, tmp_path: Path) -> None:
    common = write(tmp_path, "common.proto", 'syntax = "proto3"; message Id { int32 id = 1; }')
    order = 'syntax = "proto3"; import "common.proto"; message Order { Id id = 1; }'
    path = write(tmp_path, "order.proto", order)
    cli.ok("schemas", "register", f"{topic}-common", common)
    cli.ok(
        *("schemas", "register", f"{topic}-value", path),
        *("--reference", f"common.proto={topic}-common:1"),
    )
    cli.ok("produce", topic, "--value-format", "protobuf", stdin='{"id": {"id": 7}}')
    assert values(cli, topic, "--value-format", "protobuf") == ['{"id":{"id":7}}']


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["get"], 2, "Give a subject, and perhaps its --version; or an --id."),
        (["get", "a", "--id", "1"], 2, "Give a subject"),
        (["get", "no-such-subject"], 1, "there is no subject 'no-such-subject'"),
        (["get", "--id", "99999"], 1, "40403"),
        (["delete", "no-such-subject"], 1, "there is no subject 'no-such-subject'"),
        (["diff", "no-such-subject"], 1, "there is no subject 'no-such-subject'"),
        (["register", "a", "no-such-file.avsc"], 2, "does not exist"),
        (["list", "--registry", "localhost:8081"], 2, "is no address of a registry"),
        (["list", "--registry-user", "ada"], 2, "not of the form USER:PASSWORD"),
    ],
)
def test_wrong_commands(cli: Cli, arguments: list[str], code: int, message: str) -> None:
    finished = cli("schemas", *arguments)
    assert (finished.code, message in finished.err) == (code, True), finished


def test_files_that_are_no_schemas(cli: Cli, topic: str, tmp_path: Path) -> None:
    unknown = write(tmp_path, "schema.txt", READING)
    assert "Say so with --type" in cli("schemas", "register", topic, unknown).err
    cli.ok("schemas", "register", topic, unknown, "--type", "avro")
    malformed = write(tmp_path, "malformed.avsc", "{")
    finished = cli("schemas", "register", topic, malformed)
    assert finished.code == 1
    assert "422" in finished.err
    bad_reference = cli("schemas", "register", topic, malformed, "--reference", "a")
    assert "NAME=SUBJECT:VERSION" in bad_reference.err


def test_close_names_are_suggested(cli: Cli, topic: str, reading: Path) -> None:
    cli.ok("schemas", "register", topic, reading)
    assert f"Did you mean {topic}?" in cli("schemas", "get", f"{topic[:-1]}").err
