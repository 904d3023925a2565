"""Lines of text turned into records: plain, with keys and headers in front, or as JSON."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from headwater.cli.options.values import MAX_PARTITION
from headwater.clients.points_in_time import MAX_TIMESTAMP

Headers = list[tuple[str, bytes | None]]


class InputError(ValueError):
    """A line is no record; the message says why, without the line's number."""


class OutgoingRecord(NamedTuple):
    """A record to produce; partition -1 is the partitioner's choice, timestamp 0 is now."""

    value: bytes | None = None
    key: bytes | None = None
    headers: Headers | None = None
    partition: int = -1
    timestamp: int = 0


_NO_DEFAULTS = OutgoingRecord()

# What makes bytes of a key or a value: from the text on a line, or from a JSON value.
EncodeText = Callable[[bytes | None], bytes | None]
EncodeJson = Callable[[Any], bytes | None]


def _as_it_is(text: bytes | None) -> bytes | None:
    return text


@dataclass(frozen=True)
class LineReader:
    """Reads [headers<delimiter>][key<separator>]value, in Kafka's order.

    >>> LineReader(key_separator=b":").read(b"a:1")
    OutgoingRecord(value=b'1', key=b'a', headers=None, partition=-1, timestamp=0)
    """

    key_separator: bytes | None = None
    headers_delimiter: bytes | None = None
    header_separator: bytes = b","
    header_key_separator: bytes = b":"
    null_marker: bytes | None = None
    defaults: OutgoingRecord = _NO_DEFAULTS
    encode_key: EncodeText = _as_it_is
    encode_value: EncodeText = _as_it_is

    def read(self, line: bytes) -> OutgoingRecord:
        """Return the record on one line, which comes without its line end."""
        _, key, headers, partition, timestamp = self.defaults
        if self.headers_delimiter is not None:
            text, found, line = line.partition(self.headers_delimiter)
            if not found:
                raise InputError(f"no {_shown(self.headers_delimiter)} after the headers")
            headers = (headers or []) + self._read_headers(text)
        if self.key_separator is not None:
            raw_key, found, line = line.partition(self.key_separator)
            if not found:
                raise InputError(f"no {_shown(self.key_separator)} after the key")
            key = self.encode_key(self._or_null(raw_key))
        value = self.encode_value(self._or_null(line))
        return OutgoingRecord(value, key, headers, partition, timestamp)

    def _read_headers(self, text: bytes) -> Headers:
        if not text or text == self.null_marker:
            return []
        headers: Headers = []
        for header in text.split(self.header_separator):
            name, found, value = header.partition(self.header_key_separator)
            if not found:
                separator = _shown(self.header_key_separator)
                raise InputError(f"no {separator} in the header {_shown(header)}")
            headers.append((_utf8(name, "a header's name"), self._or_null(value)))
        return headers

    def _or_null(self, text: bytes) -> bytes | None:
        return None if self.null_marker is not None and text == self.null_marker else text


@dataclass(frozen=True)
class JsonReader:
    """Reads one JSON object per line, as `headwater consume --json` writes them.

    `value`, `key` and header values are strings (sent as they are), null, or any other JSON value
    (sent as compact JSON text); `value_base64` and `key_base64` take bytes that are no text.
    """

    defaults: OutgoingRecord = _NO_DEFAULTS
    encode_key: EncodeJson | None = None
    encode_value: EncodeJson | None = None

    def read(self, line: bytes) -> OutgoingRecord:
        """Return the record on one line."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as failure:
            raise InputError(f"not JSON: {failure}") from None
        if not isinstance(fields, dict):
            raise InputError("not a JSON object")
        unknown = fields.keys() - _FIELDS - _IGNORED
        if unknown:
            raise InputError(
                f"unknown field '{min(unknown)}'; a record has key, value, headers, partition and "
                "timestamp. Without --json the whole line is the value"
            )
        if not fields.keys() & {"value", "value_base64"}:
            raise InputError("no field 'value'; null makes a tombstone")
        defaults = self.defaults
        has_key = fields.keys() & {"key", "key_base64"}
        return OutgoingRecord(
            value=_bytes_of(fields, "value", self.encode_value),
            key=_bytes_of(fields, "key", self.encode_key) if has_key else defaults.key,
            headers=(defaults.headers or []) + _json_headers(fields.get("headers")) or None,
            partition=_integer(fields, "partition", defaults.partition, MAX_PARTITION),
            timestamp=_integer(fields, "timestamp", defaults.timestamp, MAX_TIMESTAMP),
        )


_FIELDS = {"key", "key_base64", "value", "value_base64", "headers", "partition", "timestamp"}
# What consuming adds and producing cannot choose, so that one can feed the other.
_IGNORED = {"topic", "offset", "timestamp_type"}


def _bytes_of(fields: dict[str, Any], name: str, encode: EncodeJson | None = None) -> bytes | None:
    encoded = fields.get(f"{name}_base64")
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise InputError(f"{name}_base64 is not base64") from None
    value = fields.get(name)
    if value is None:
        return None
    if encode is not None:
        return encode(value)
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _json_headers(headers: object) -> Headers:
    if headers is None:
        return []
    if isinstance(headers, dict):
        headers = [{"key": name, "value": value} for name, value in headers.items()]
    if not isinstance(headers, list):
        raise InputError("headers must be an object or a list")
    parsed: Headers = []
    for header in headers:
        if not isinstance(header, dict) or not isinstance(header.get("key"), str):
            raise InputError('a header must look like {"key": "name", "value": "text"}')
        if any("\ud800" <= character <= "\udfff" for character in header["key"]):
            raise InputError(f"a header cannot be named {header['key']!r}, which is no Unicode")
        parsed.append((header["key"], _bytes_of(header, "value")))
    return parsed


def _integer(fields: dict[str, Any], name: str, default: int, largest: int) -> int:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
        raise InputError(f"{name} must be a whole number from 0 to {largest}")
    return value


def _utf8(text: bytes, what: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise InputError(f"{what} is not UTF-8: {_shown(text)}") from None


def _shown(text: bytes) -> str:
    return repr(text)[1:]
