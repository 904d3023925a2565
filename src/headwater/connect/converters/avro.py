"""AvroConverter: Avro in the registry's framing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.connect.converters import avro_schemas
from headwater.connect.converters.converter import Decoded
from headwater.connect.converters.registry_settings import REGISTRY_SETTINGS, Subjects
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl, plan_type
from headwater.serde import Schema as RegisteredSchema
from headwater.spark.formats.avro import decode_avro, encode_avro

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.config import Definitions

_MOST_DIGITS = 38


@dataclass(frozen=True)
class AvroConverter:
    """Avro, as Confluent's converter of this name writes and reads it."""

    subjects: Subjects

    definitions: ClassVar[Definitions] = REGISTRY_SETTINGS
    needs_topics: ClassVar[bool] = True

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Take Confluent's settings."""
        return cls(Subjects.configured(config, is_key=is_key))

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the framed bytes; raises TypeError for values without a schema."""
        if schema is None:
            raise TypeError("AvroConverter takes values with a schema; these have none")
        registered = RegisteredSchema(json.dumps(avro_schemas.as_avro(schema)))
        encoded = F.lit(None).cast("binary")
        for topic in topics:
            id_, found = self.subjects.to_write(topic, registered)
            if found is registered:
                text = json.dumps(avro_schemas.as_avro(schema, marks=False))
            else:
                text = _for_spark(found)
            written = F.when(value.isNotNull(), encode_avro(value, text, id_))
            encoded = F.when(F.col("topic") == topic, written).otherwise(encoded)
        return encoded

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the values, read as the newest of the schemas that are among the records."""
        found = self.subjects.writers(frame, column, "AVRO")
        texts = {id_: "" if each is None else _for_spark(each) for id_, each in found.items()}
        newest = next((id_ for id_ in reversed(texts) if texts[id_]), None)
        if newest is None:
            failed = F.when(frame[column].isNotNull(), F.lit(_NOT_AVRO))
            return Decoded(F.lit(None).cast("string"), Schema(Type.STRING, optional=True), failed)
        registered = found[newest]
        assert registered is not None
        schema = avro_schemas.from_avro(registered.parse_json())
        type_ = plan_type(_as_read(schema))
        subject = self.subjects.subject(topic)
        value = decode_avro(
            frame[column], texts, texts[newest], subject, type_=type_, malformed=None
        )
        failed = F.when(frame[column].isNotNull() & value.isNull(), F.lit(_NOT_AVRO))
        return Decoded(value.cast(ddl(schema)), schema, failed)


_NOT_AVRO = "it does not start with the id of a known schema, or is not what that schema says"


def _for_spark(schema: RegisteredSchema) -> str:
    return json.dumps(_plain(schema.parse_json()))


def _plain(found: Any) -> Any:
    """Leave out what Spark reads otherwise: decimals beyond its digits, and times of day."""
    if isinstance(found, list):
        return [_plain(each) for each in found]
    if not isinstance(found, dict):
        return found
    plain = {
        name: _plain(of) if name in ("type", "items", "values", "fields") else of
        for name, of in found.items()
        if not name.startswith("connect.")
    }
    if plain.get("logicalType") == "decimal":
        plain["precision"] = min(int(plain["precision"]), _MOST_DIGITS)
    if plain.get("logicalType") == "time-millis":
        del plain["logicalType"]
    return plain


def _as_read(schema: Schema) -> Schema:
    """Return the schema of what Spark reads: Avro has no numbers of fewer than 32 bits."""
    from dataclasses import replace

    from headwater.connect.data.schema import Field

    return replace(
        schema,
        type=Type.INT32 if schema.type in (Type.INT8, Type.INT16) else schema.type,
        fields=tuple(Field(each.name, _as_read(each.schema)) for each in schema.fields),
        value=None if schema.value is None else _as_read(schema.value),
    )
