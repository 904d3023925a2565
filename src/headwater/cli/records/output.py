"""Consumed records as bytes to print: values, keys and values, a template, or JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from headwater.cli.options.values import unescape
from headwater.cli.output import json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from confluent_kafka import Message

TIMESTAMP_TYPES = ("NotAvailable", "CreateTime", "LogAppendTime")


def text_formatter(
    *, headers: bool, keys: bool, separator: bytes, null_marker: bytes
) -> Callable[[Message], bytes]:
    """Format as [headers<separator>][key<separator>]value and a line end.

    It is the notation that `headwater produce --parse-headers --parse-key` reads.
    """
    pieces = ["h"] * headers + ["k"] * keys + ["v"]
    fields = [_field(piece, null_marker) for piece in pieces]

    def write(message: Message) -> bytes:
        return separator.join([field(message) for field in fields]) + b"\n"

    return write


def template_formatter(template: str, null_marker: bytes) -> Callable[[Message], bytes]:
    r"""Format by a template in kcat's manner, such as '%t [%p] at %o: %k = %v\n'.

    Raises ValueError for a % that stands for nothing.
    """
    pieces = [
        _field(piece[1:], null_marker) if piece.startswith("%") else _constant(unescape(piece))
        for piece in re.findall(r"%.?|[^%]+", template, re.DOTALL)
    ]
    return lambda message: b"".join([piece(message) for piece in pieces])


def json_line(message: Message, decoded: Mapping[str, object] | None = None) -> bytes:
    """Format as one JSON object on a line; bytes that are no UTF-8 go to `..._base64` fields.

    `decoded` has the key and the value, where they were decoded.
    """
    parts = {"key": message.key(), "value": message.value(), **(decoded or {})}
    kind, timestamp = message.timestamp()
    record: dict[str, object] = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": timestamp if kind else None,
        "timestamp_type": TIMESTAMP_TYPES[kind],
        "headers": [
            {"key": name, **json_bytes(value, "value")} for name, value in _headers(message)
        ],
    }
    for name, part in parts.items():
        record |= json_bytes(part, name) if isinstance(part, bytes) else {name: part}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _field(letter: str, null: bytes) -> Callable[[Message], bytes]:
    if letter in ("v", "s"):
        return lambda message: null if (value := message.value()) is None else value
    if letter == "k":
        return lambda message: null if (key := message.key()) is None else key
    if letter == "h":
        return lambda message: b",".join(
            [
                name.encode() + b":" + (null if value is None else value)
                for name, value in _headers(message)
            ]
        )
    try:
        number = _NUMBERS[letter]
    except KeyError:
        raise ValueError(
            f"'%{letter}' stands for nothing; there are %t %p %o %k %v %h %T %K %S and %%"
        ) from None
    return lambda message: str(number(message)).encode()


def _constant(text: bytes) -> Callable[[Message], bytes]:
    return lambda _message: text


def _length(data: bytes | None) -> int:
    return -1 if data is None else len(data)


_NUMBERS: dict[str, Callable[[Message], object]] = {
    "t": lambda message: message.topic(),
    "p": lambda message: message.partition(),
    "o": lambda message: message.offset(),
    "T": lambda message: message.timestamp()[1],
    "K": lambda message: _length(message.key()),
    "S": lambda message: _length(message.value()),
    "%": lambda _message: "%",
}


def _headers(message: Message) -> list[tuple[str, bytes | None]]:
    return message.headers() or []
