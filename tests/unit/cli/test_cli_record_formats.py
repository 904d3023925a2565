"""Formats on the command line: what is typed becomes bytes, and bytes become what is printed."""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.serde.tiny_registry import TinyRegistry

from headwater.cli.records.formats import (
    RecordFormats,
    decoding,
    decoding_json,
    skipping_malformed,
)
from headwater.cli.records.input import InputError, JsonReader, LineReader
from headwater.cli.records.output import json_line, text_formatter
from headwater.serde import DeserializationError, SchemaRegistryClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AVRO = '{"type":"record","name":"R","fields":[{"name":"a","type":["null","long"]}]}'
PROTO = 'syntax = "proto3"; message R { int64 a = 1; }'
JSON = '{"type":"object","properties":{"a":{"type":"integer"}}}'


class Message:
    def __init__(self, value: bytes | None, key: bytes | None = None) -> None:
        self._value = value
        self._key = key

    def value(self) -> bytes | None:
        return self._value

    def key(self) -> bytes | None:
        return self._key

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return 7

    def timestamp(self) -> tuple[int, int]:
        return 1, 5

    def headers(self) -> None:
        return None


@pytest.fixture
def registry() -> Iterator[SchemaRegistryClient]:
    with TinyRegistry() as server, SchemaRegistryClient(server.url, retries=0) as client:
        yield client


@pytest.mark.parametrize(
    ("kind", "text", "data", "printed"),
    [
        ("string", "Käse", "Käse".encode(), "Käse"),
        ("bytes", "\udcff", b"\xff", "\udcff"),
        ("long", "258", struct.pack(">q", 258), "258"),
        ("double", "1.5", struct.pack(">d", 1.5), "1.5"),
        ("double", "2", struct.pack(">d", 2), "2.0"),
        ("json", '{"a": 1}', b'{"a": 1}', '{"a":1}'),
        ("avro", '{"a": {"long": 1}}', b"\0\0\0\0\1\2\2", '{"a":{"long":1}}'),
        ("avro", '{"a": 1}', b"\0\0\0\0\1\2\2", '{"a":{"long":1}}'),
        ("protobuf", '{"a": 1}', b"\0\0\0\0\1\0\x08\x01", '{"a":"1"}'),
        ("jsonschema", '{"a": 1}', b'\0\0\0\0\1{"a":1}', '{"a":1}'),
    ],
)
def test_lines(
    registry: SchemaRegistryClient, tmp_path: Path, kind: str, text: str, data: bytes, printed: str
) -> None:
    formats = chosen(registry, tmp_path, kind)
    encoder, decoder = (
        formats.encoder("t", "value"),
        RecordFormats(registry, value_format=kind).decoder("value"),
    )
    assert encoder is not None
    assert decoder is not None
    line = text.encode("utf-8", "surrogateescape")
    assert encoder.from_text(line) == data
    assert encoder.from_text(None) is None
    assert decoder.to_text(Message(data)) == printed.encode("utf-8", "surrogateescape")
    assert decoder.to_text(Message(None)) is None
    again = RecordFormats(registry, None, kind).encoder("t", "value")
    assert again is not None
    assert again.from_text(line) == data


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        ("string", "a", b"a"),
        ("string", {"a": [1]}, b'{"a":[1]}'),
        ("bytes", "a", b"a"),
        ("long", 5, struct.pack(">q", 5)),
        ("long", "5", struct.pack(">q", 5)),
        ("double", 5, struct.pack(">d", 5)),
        ("json", "a", b'"a"'),
        ("json", {"a": 1.0}, b'{"a":1.0}'),
        ("avro", {"a": None}, b"\0\0\0\0\1\0"),
    ],
)
def test_json(
    registry: SchemaRegistryClient, tmp_path: Path, kind: str, value: Any, data: bytes
) -> None:
    encoder = chosen(registry, tmp_path, kind).encoder("t", "value")
    assert encoder is not None
    reader = JsonReader(encode_value=encoder.from_json)
    assert reader.read(json.dumps({"value": value}).encode()).value == data
    assert reader.read(b'{"value": null}').value is None
    # Bytes in base64 are taken as they are: they have been encoded before.
    given = {"value_base64": base64.b64encode(b"\xff").decode()}
    assert reader.read(json.dumps(given).encode()).value == b"\xff"


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("long", b"x", "the value as long: invalid literal"),
        ("long", b"9223372036854775808", "the value as long: .* does not fit into 8 bytes"),
        ("double", b"x", "the value as double: could not convert"),
        ("string", b"\xff", "the value as string: .*can't decode"),
        ("json", b"{", "the value as json: Expecting"),
        ("avro", b"{", "the value as avro: Expecting"),
        ("avro", b'{"a": "x"}', 'the value as avro: a: wanted is null or {"long": ...}, not'),
        ("protobuf", b'{"b": 1}', "the value as protobuf: .*no field named"),
        ("jsonschema", b'{"a": "x"}', "the value as jsonschema: the schema does not allow it: a:"),
    ],
)
def test_what_cannot_be_encoded(
    registry: SchemaRegistryClient, tmp_path: Path, kind: str, text: bytes, reason: str
) -> None:
    encoder = chosen(registry, tmp_path, kind).encoder("t", "value")
    assert encoder is not None
    with pytest.raises(InputError, match=reason):
        encoder.from_text(text)


def test_keys_and_values_of_a_line(registry: SchemaRegistryClient) -> None:
    formats = RecordFormats(registry, key_format="long", value_format="double")
    key, value = formats.encoder("t", "key"), formats.encoder("t", "value")
    assert key is not None
    assert value is not None
    reader = LineReader(
        b":", null_marker=b"-", encode_key=key.from_text, encode_value=value.from_text
    )
    record = reader.read(b"5:1.5")
    assert (record.key, record.value) == (struct.pack(">q", 5), struct.pack(">d", 1.5))
    assert reader.read(b"5:-").value is None
    with pytest.raises(InputError, match="the key as long"):
        reader.read(b"x:1")


def test_printing(registry: SchemaRegistryClient) -> None:
    formats = RecordFormats(registry, key_format="long", value_format="json")
    message = Message(b'{"a": [1, "b"]}', struct.pack(">q", 5))
    plain = text_formatter(headers=False, keys=True, separator=b" = ", null_marker=b"null")
    assert decoding(plain, formats)(message) == b'5 = {"a":[1,"b"]}\n'
    assert decoding(plain, formats)(Message(None, None)) == b"null = null\n"
    assert decoding(plain, RecordFormats(registry)) is plain
    line = json.loads(decoding_json(json_line, formats)(message))
    assert (line["key"], line["value"]) == (5, {"a": [1, "b"]})
    assert (line["topic"], line["offset"]) == ("t", 7)
    raw = json.loads(decoding_json(json_line, RecordFormats(registry))(Message(b"\xff")))
    assert raw["value_base64"] == base64.b64encode(b"\xff").decode()


def test_a_malformed_record(
    registry: SchemaRegistryClient, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = text_formatter(headers=False, keys=False, separator=b"", null_marker=b"")
    to_bytes = decoding(plain, RecordFormats(registry, value_format="long"))
    with pytest.raises(DeserializationError, match=r"t \[0\] at offset 7, value: a long has 8"):
        to_bytes(Message(b"abc"))
    assert skipping_malformed(to_bytes)(Message(b"abc")) == b""
    assert capsys.readouterr().err.startswith("Skipped: t [0] at offset 7, value: a long has 8")


def chosen(registry: SchemaRegistryClient, directory: Path, kind: str) -> RecordFormats:
    texts = {"avro": AVRO, "protobuf": PROTO, "jsonschema": JSON}
    if kind not in texts:
        return RecordFormats(registry, value_format=kind)
    schema = directory / "schema"
    schema.write_text(texts[kind])
    return RecordFormats(registry, value_format=kind, value_schema=str(schema))
