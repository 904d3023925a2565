"""Decodes and encodes a column in any format: the place where a format's name becomes Spark."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import Struct
from headwater.serde import Schema
from headwater.serde.framing import ID_SIZE, id_prefix
from headwater.spark.formats.arrow import (
    decode_arrow,
    decode_bare_protobuf,
    encode_arrow,
    encode_bare_protobuf,
)
from headwater.spark.formats.avro import avro_schema, decode_avro, encode_avro
from headwater.spark.formats.delimited import encode_delimited, parse_delimited
from headwater.spark.formats.json import decode_json, encode_json, is_blank, parse_json
from headwater.spark.formats.json_schema import json_schema
from headwater.spark.formats.lenient_json import parse_lenient_json
from headwater.spark.formats.plain import (
    NUMBER_SIZES,
    decode_plain,
    encode_plain,
    is_malformed_plain,
)
from headwater.spark.formats.schemas import subject_of
from headwater.spark.formats.windowed_keys import (
    is_too_short,
    key_bytes,
    window_bytes,
    with_window,
)
from headwater.spark.formats.writers import found_writer, new_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, SparkSession

    from headwater.plan.formats import Format
    from headwater.plan.schemas.types import DataType
    from headwater.spark.formats.schemas import Schemas

FieldName = Literal["key", "value"]
MALFORMED_PREFIX = "headwater: malformed record, "


@dataclass(frozen=True)
class Decoded:
    """A value, and the reason why there is none: null where all is well, None if it always is."""

    value: Column
    reason: Column | None


@dataclass(frozen=True)
class ColumnCodec:
    """Decodes and encodes the keys or the values of topics."""

    spark: SparkSession
    schemas: Schemas
    format: Format
    type: DataType
    topics: Sequence[str]
    field: FieldName

    def decode(self, data: Column) -> Column:
        """Return the value; a malformed one fails the query, and says which it was."""
        kind = self.format.kind
        if kind == "json" and self.format.window is None and not self.format.lenient:
            text = data.cast("string")
            empty = _fail(self.field, F.lit(_EMPTY)).cast(self.type.ddl())
            # Looked at only where there is no value.
            return F.coalesce(decode_json(text, self.type), F.when(is_blank(text), empty))
        if kind == "avro" and self.format.window is None:
            return self._avro(data, malformed=_fail(self.field, F.lit(_NOT_AVRO)))
        decoded = self.parse(data)
        if decoded.reason is None:
            return decoded.value
        failure = _fail(self.field, decoded.reason).cast(self.type.ddl())
        return F.when(decoded.reason.isNotNull(), failure).otherwise(decoded.value)

    def parse(self, data: Column) -> Decoded:
        """Return the value and the reason why it is malformed."""
        if self.format.window is not None:
            return self._parse_windowed(data)
        kind = self.format.kind
        if kind == "protobuf_nosr":
            return Decoded(*decode_bare_protobuf(data, self.type))
        if kind == "delimited":
            text = data.cast("string")
            value, malformed = parse_delimited(text, self.type, self.format.delimiter)
            return Decoded(value, F.when(malformed, F.lit(f"it is no line of {self.type.ddl()}")))
        if kind == "json":
            parse = parse_lenient_json if self.format.lenient else parse_json
            value, malformed = parse(data.cast("string"), self.type)
            return Decoded(value, F.when(malformed, F.lit(f"it is no JSON {self.type.ddl()}")))
        if kind == "jsonschema":
            return self._json_schema(data)
        if kind == "avro":
            value = self._avro(data, malformed=None)
            return Decoded(value, F.when(data.isNotNull() & value.isNull(), F.lit(_NOT_AVRO)))
        if kind == "protobuf":
            return Decoded(
                *decode_arrow(
                    data, kind, self._protobuf(), self.type, self.schemas.registry,
                    message=self.format.message,
                )
            )  # fmt: skip
        malformed_plain = is_malformed_plain(kind, data)
        value = decode_plain(kind, data)
        if malformed_plain is None:
            return Decoded(value, None)
        expected = F.lit(f"a {kind} has {NUMBER_SIZES[kind]} bytes, this has ")
        size = F.concat(expected, F.length(data).cast("string"))
        return Decoded(F.when(~malformed_plain, value), F.when(malformed_plain, size))

    def encode(self, value: Column) -> Column:
        """Return the bytes; a null value stays null, a tombstone."""
        if self.format.window is not None:
            encoded = self._key_codec().encode(value.getField("key"))
            return F.concat(encoded, window_bytes(value, self.format))
        kind = self.format.kind
        if kind == "json":
            return encode_json(value, self.type).cast("binary")
        if kind == "protobuf_nosr":
            return encode_bare_protobuf(value, self.type)
        if kind == "delimited":
            return encode_delimited(value, self.type, self.format.delimiter).cast("binary")
        if not self.format.needs_registry:
            return encode_plain(kind, value)
        if kind == "protobuf":
            return encode_arrow(
                value, kind, self._protobuf(), self.topics[0], self.field, self.schemas.registry,
                message=self.format.message,
            )  # fmt: skip
        schema = self._schema()
        id_ = self.schemas.id_of(self._subject(), schema, kind)
        if kind == "avro":
            return encode_avro(value, schema, id_)
        return F.concat(F.lit(id_prefix(id_)), encode_json(value, self.type).cast("binary"))

    def _parse_windowed(self, data: Column) -> Decoded:
        inner = self._key_codec().parse(key_bytes(data, self.format))
        value = with_window(inner.value, data, self.format)
        too_short = is_too_short(data, self.format)
        reason = F.when(too_short, F.lit("it has no window after it"))
        if inner.reason is not None:
            reason = F.coalesce(reason, inner.reason)
        return Decoded(F.when(~too_short, value), reason)

    def _key_codec(self) -> ColumnCodec:
        """Return what is left for the key itself where a window stands after it."""
        assert isinstance(self.type, Struct), "a key with a window is a struct"
        inner = replace(self.format, window=None)
        return replace(self, format=inner, type=self.type.fields[0].type)

    def _avro(self, data: Column, *, malformed: Column | None) -> Column:
        return decode_avro(
            data,
            self._writers(),
            self._schema(),
            self._subject(),
            type_=self.type,
            malformed=malformed,
        )

    def _json_schema(self, data: Column) -> Decoded:
        value, malformed = parse_json(data.substr(ID_SIZE + 1, 1 << 30).cast("string"), self.type)
        writer = found_writer(data, self._writers())
        reason = (
            F.when(~writer.is_framed, F.lit(_NOT_FRAMED))
            .when(writer.is_refused, F.lit(_UNKNOWN))
            .when(~writer.is_known, new_schema(data, self._subject()).cast("string"))
            .when(malformed, F.lit(f"it is no JSON {self.type.ddl()}"))
        )
        return Decoded(F.when(writer.is_known, value), reason)

    def _writers(self) -> dict[int, str]:
        writers: dict[int, str] = {}
        for topic in self.topics:
            subject = subject_of(self.format, topic, self.field)
            writers |= self.schemas.writers(subject, self.format.kind)
        return writers

    def _subject(self) -> str:
        return subject_of(self.format, self.topics[0], self.field)

    def _schema(self) -> str:
        if self.format.schema is not None:
            return self.format.schema
        name = re.sub(r"\W", "_", self._subject())
        if self.format.kind == "avro":
            return avro_schema(self.spark, self.type, name)
        return json.dumps(json_schema(self.type))

    def _protobuf(self) -> Schema:
        if self.format.schema is None:
            return self.schemas.latest(self._subject(), self.format.kind)
        return Schema(self.format.schema, "PROTOBUF", self.format.references)


_EMPTY = "it is empty, which is no JSON; a tombstone has no value at all"
_NOT_FRAMED = "it does not start with the id of a schema; it was not written with a registry"
_UNKNOWN = (
    "it starts with the id of a schema that the registry does not have, or not as JSON Schema"
)
_NOT_AVRO = "it does not start with the id of a known schema, or is not what that schema says"


def _fail(field: str, reason: Column) -> Column:
    where = F.concat(
        F.lit(MALFORMED_PREFIX), F.col("topic"), F.lit(" ["), F.col("partition").cast("string"),
        F.lit("] at offset "), F.col("offset").cast("string"), F.lit(f", {field}: "), reason,
    )  # fmt: skip
    return F.raise_error(where)
