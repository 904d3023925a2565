"""Converters of headers: `header.converter`, by Connect's class names.

Where records are read, headers become the text of their values, as SimpleHeaderConverter has it;
where a transform adds one, it is written by the converter.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from headwater.config import ConfigDef, ConfigError, ConfigType
from headwater.connect.converters.json_schemas import as_json_schema
from headwater.connect.data import schema as connect
from headwater.connect.data.header_format import HeaderFormat, TextHeaders
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import text

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTING = "header.converter"
SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


class ReadHeaders(NamedTuple):
    """Headers of a topic as SQL, and text that says why they cannot be read: null if they can."""

    headers: str
    failed: str


class HeaderConverter(HeaderFormat, Protocol):
    """Writes headers, and reads them."""

    def from_bytes(self) -> ReadHeaders:
        """Return the column `headers` with its values as text, in bytes."""
        ...


_AS_THEY_ARE = ReadHeaders("headers", "cast(null as string)")


class TextConverter(TextHeaders):
    """SimpleHeaderConverter and StringConverter: what is text stays so."""

    def from_bytes(self) -> ReadHeaders:
        """Return them as they are."""
        return _AS_THEY_ARE


@dataclass(frozen=True)
class ByteArrayHeaders:
    """ByteArrayConverter: bytes, and nothing else."""

    def to_bytes(self, value: str, shown: str, schema: Schema | None) -> str:
        """Return the bytes; raises ValueError for what is none."""
        del shown
        if schema is None or schema.type is not Type.BYTES or schema.logical:
            raise ValueError(f"ByteArrayConverter takes bytes, and the header is {_kind(schema)}")
        return value

    def from_bytes(self) -> ReadHeaders:
        """Return them as they are."""
        return _AS_THEY_ARE


@dataclass(frozen=True)
class WholeNumberHeaders:
    """ShortConverter, IntegerConverter and LongConverter: big end first."""

    type: Type
    size: int

    def to_bytes(self, value: str, shown: str, schema: Schema | None) -> str:
        """Return so many bytes; raises ValueError for another type."""
        del shown
        if schema is None or schema.type is not self.type or schema.logical:
            raise ValueError(f"the converter takes {self.type}, and the header is {_kind(schema)}")
        digits = f"right(lpad(hex(cast({value} as bigint)), 16, '0'), {2 * self.size})"
        return f"unhex({digits})"

    def from_bytes(self) -> ReadHeaders:
        """Return the numbers as text; bytes of another count are none."""
        # As of eight bytes, whose first bit is the sign.
        sign = f"if(hex(h.value) >= '8', {text('F' * 16)}, {text('0' * 16)})"
        wide = f"right(concat({sign}, hex(h.value)), 16)"
        return _read(
            f"cast(conv({wide}, 16, -10) as binary)",
            f"length(h.value) = {self.size}",
            f"its value has not {self.size} bytes",
        )


@dataclass(frozen=True)
class JsonHeaders:
    """JsonConverter: JSON, with its schema around it or without."""

    has_schemas: bool

    def to_bytes(self, value: str, shown: str, schema: Schema | None) -> str:
        """Return the JSON's bytes; raises ValueError for decimals and moments inside of others."""
        payload = f"coalesce({_payload(value, shown, schema)}, 'null')"
        if not self.has_schemas:
            return f"cast({payload} as binary)"
        if schema is None:  # as JsonConverter has it for what has no schema
            return f"cast(concat('{{\"schema\":null,\"payload\":', {payload}, '}}') as binary)"
        described = json.dumps(as_json_schema(schema), separators=(",", ":"))
        before = text(f'{{"schema":{described},"payload":')
        return f"cast(concat({before}, {payload}, '}}') as binary)"

    def from_bytes(self) -> ReadHeaders:
        """Return the payloads as text: that of a string without quotes."""
        parsed = "try_parse_json(cast(h.value as string))"
        payload = f"variant_get({parsed}, '$.payload')" if self.has_schemas else parsed
        is_well = f"{parsed} is not null"
        if self.has_schemas:
            fields = f"try_cast({parsed} as map<string, variant>)"
            is_well = f"coalesce(map_contains_key({fields}, 'payload'), false)"
        shown = f"cast(cast({payload} as string) as binary)"
        return _read(shown, is_well, "its value is not JSON as JsonConverter writes it")


def header_converter_for(class_name: str, config: Mapping[str, str]) -> HeaderConverter:
    """Return the converter of headers of a class name, with its settings; raises ConfigError."""
    if class_name == _JSON:
        enable = ConfigDef("schemas.enable", ConfigType.BOOLEAN, True, "")
        try:
            return JsonHeaders(bool(enable.parse(config.get("schemas.enable", "true"))))
        except ConfigError as failure:
            raise ConfigError(f"{SETTING}.schemas.enable", failure.value, failure.reason) from None
    if class_name not in _OTHERS:
        names = ", ".join([*_OTHERS, _JSON])
        raise ConfigError(
            SETTING, class_name, f"there is no such converter for headers; there are {names}"
        )
    return _OTHERS[class_name]


def _read(value: str, is_well: str, reason: str) -> ReadHeaders:
    """Return headers with another value each, and which of them have none that can be read."""
    is_null = "h.value is null"
    changed = f"named_struct('key', h.key, 'value', if({is_null}, null, {value}))"
    wrong = f"filter(headers, h -> not ({is_null} or ({is_well})))"
    said = f"concat('the header ', get({wrong}, 0).key, ' cannot be read: ', {text(reason)})"
    failed = f"if(size({wrong}) > 0, {said}, null)"
    return ReadHeaders(f"if(({failed}) is null, transform(headers, h -> {changed}), null)", failed)


def _payload(value: str, shown: str, schema: Schema | None) -> str:
    if schema is None:
        return f"to_json({value})"
    match schema.logical:
        case connect.DATE:
            return f"cast(unix_date({value}) as string)"
        case connect.TIMESTAMP:
            return f"cast(unix_millis({value}) as string)"
        case connect.DECIMAL:
            raise ValueError("a decimal number cannot be a header in JSON; cast it to text before")
    match schema.type:
        case Type.STRING | Type.BYTES:  # bytes are shown in base 64
            return f"to_json(cast({shown} as variant))"
        case Type.ARRAY | Type.MAP | Type.STRUCT:
            if not _is_plain(schema):
                raise ValueError("bytes, decimals and moments inside of others cannot be in JSON")
            return f"to_json({value})"
    return f"cast({value} as string)"


def _is_plain(schema: Schema) -> bool:
    parts = [schema.key, schema.value, *(each.schema for each in schema.fields)]
    is_plain = schema.logical is None and schema.type is not Type.BYTES
    return is_plain and all(_is_plain(part) for part in parts if part is not None)


def _kind(schema: Schema | None) -> str:
    return "without a schema" if schema is None else str(schema.logical or schema.type.value)


_KAFKA = "org.apache.kafka.connect"
_JSON = f"{_KAFKA}.json.JsonConverter"
_OTHERS: Mapping[str, HeaderConverter] = {
    SIMPLE: TextConverter(),
    f"{_KAFKA}.storage.StringConverter": TextConverter(),
    f"{_KAFKA}.converters.ByteArrayConverter": ByteArrayHeaders(),
    f"{_KAFKA}.converters.ShortConverter": WholeNumberHeaders(Type.INT16, 2),
    f"{_KAFKA}.converters.IntegerConverter": WholeNumberHeaders(Type.INT32, 4),
    f"{_KAFKA}.converters.LongConverter": WholeNumberHeaders(Type.INT64, 8),
}
