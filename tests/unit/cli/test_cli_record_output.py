"""Records as text, templates and JSON."""

from __future__ import annotations

import base64
import json

import pytest
from confluent_kafka import Message

from headwater.cli.records.input import JsonReader, LineReader
from headwater.cli.records.output import json_line, template_formatter, text_formatter


def message(
    value: bytes | None = b"v",
    key: bytes | None = b"k",
    headers: list[tuple[str, bytes | None]] | None = None,
) -> Message:
    return Message(
        topic="t", partition=1, offset=7, timestamp=(1, 42), key=key, value=value, headers=headers
    )


def test_text_can_be_read_by_produce() -> None:
    write = text_formatter(headers=True, keys=True, separator=b"\t", null_marker=b"null")
    line = write(message(None, b"k", [("a", b"1"), ("b", None)]))
    assert line == b"a:1,b:null\tk\tnull\n"
    reader = LineReader(key_separator=b"\t", headers_delimiter=b"\t", null_marker=b"null")
    record = reader.read(line.rstrip(b"\n"))
    assert (record.value, record.key, record.headers) == (None, b"k", [("a", b"1"), ("b", None)])


def test_values_are_written_byte_for_byte() -> None:
    write = text_formatter(headers=False, keys=False, separator=b"\t", null_marker=b"null")
    assert write(message(b"\xff\x00")) == b"\xff\x00\n"


def test_template() -> None:
    write = template_formatter(r"%t/%p/%o %T %k=%v %s [%h] %K %S %%\t\x41\n", b"NULL")
    assert write(message(headers=[("a", b"1"), ("b", b"2")])) == (
        b"t/1/7 42 k=v v [a:1,b:2] 1 1 %\tA\n"
    )
    assert write(message(None, None)) == b"t/1/7 42 NULL=NULL NULL [] -1 -1 %\tA\n"


@pytest.mark.parametrize("template", ["%q", "100%", r"\q"])
def test_templates_with_what_nobody_knows(template: str) -> None:
    with pytest.raises(ValueError, match=r"stands for nothing|is unknown"):
        template_formatter(template, b"")


def test_json_of_text_bytes_and_null() -> None:
    record = json.loads(json_line(message("ü".encode(), b"\xff", [("h", None), ("b", b"\xfe")])))
    assert record == {
        "topic": "t",
        "partition": 1,
        "offset": 7,
        "timestamp": 42,
        "timestamp_type": "CreateTime",
        "headers": [
            {"key": "h", "value": None},
            {"key": "b", "value_base64": base64.b64encode(b"\xfe").decode()},
        ],
        "key_base64": base64.b64encode(b"\xff").decode(),
        "value": "ü",
    }


def test_json_can_be_read_by_produce() -> None:
    headers: list[tuple[str, bytes | None]] = [("a", b"1"), ("a", None), ("b", b"\xfe")]
    record = JsonReader().read(json_line(message(b"\xff", None, headers)))
    assert record == (b"\xff", None, headers, 1, 42)
