"""JsonSchemaConverter: JSON in the registry's framing, with a JSON Schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.config import ConfigDef, ConfigType, Definitions, Values, one_of_any_case
from headwater.connect.converters.converter import Decoded
from headwater.connect.converters.json_payload import (
    PayloadFormat,
    from_payload,
    json_text,
    payload_ddl,
    to_payload,
)
from headwater.connect.converters.json_schema_schemas import as_json_schema, from_json_schema
from headwater.connect.converters.registry_settings import REGISTRY_SETTINGS, Subjects
from headwater.connect.data.merging import merged_schema
from headwater.connect.data.schema import Schema, Type
from headwater.serde import Schema as RegisteredSchema
from headwater.serde.framing import ID_SIZE, id_prefix
from headwater.spark.formats.writers import found_writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

_CORRUPT = "_corrupt_record"


@dataclass(frozen=True)
class JsonSchemaConverter:
    """JSON with a schema in the registry, as Confluent's converter of this name has it."""

    subjects: Subjects
    format: PayloadFormat

    definitions: ClassVar[Definitions] = Definitions(
        "converter",
        *REGISTRY_SETTINGS.values(),
        ConfigDef(
            "decimal.format",
            ConfigType.STRING,
            "BASE64",
            "How decimals are written: as BASE64 of their bytes, or NUMERIC. Both are read.",
            one_of_any_case("BASE64", "NUMERIC"),
        ),
        open_prefixes=("",),
    )
    needs_topics: ClassVar[bool] = True

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Take Confluent's settings."""
        decimals = Values(cls.definitions, config).text("decimal.format") or ""
        how = PayloadFormat(numeric_decimals=decimals.upper() == "NUMERIC")
        return cls(Subjects.configured(config, is_key=is_key), how)

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the framed bytes; raises TypeError for values without a schema."""
        if schema is None:
            raise TypeError("JsonSchemaConverter takes values with a schema; these have none")
        described = as_json_schema(schema, numeric_decimals=self.format.numeric_decimals)
        registered = RegisteredSchema(json.dumps(described), "JSON")
        body = json_text(to_payload(value, schema, self.format), schema).cast("binary")
        encoded = F.lit(None).cast("binary")
        for topic in topics:
            id_, _ = self.subjects.to_write(topic, registered)
            framed = F.when(value.isNotNull(), F.concat(F.lit(id_prefix(id_)), body))
            encoded = F.when(F.col("topic") == topic, framed).otherwise(encoded)
        return encoded

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the values, with the fields of all schemas that are among the records."""
        del topic
        data = frame[column]
        found = self.subjects.writers(frame, column, "JSON")
        schemas = [from_json_schema(each.parse_json()) for each in found.values() if each]
        if not schemas:
            failed = F.when(data.isNotNull(), F.lit(_UNKNOWN))
            return Decoded(F.lit(None).cast("string"), Schema(Type.STRING, optional=True), failed)
        schema = schemas[-1]
        for each in schemas[:-1]:
            schema = merged_schema(schema, each)
        # A value alone is no JSON that Spark reads: it is made the field of an object.
        text = F.concat(
            F.lit('{"v":'), data.substr(ID_SIZE + 1, 1 << 30).cast("string"), F.lit("}")
        )
        wide = f"v {payload_ddl(schema)}, {_CORRUPT} string"
        parsed = F.from_json(text, wide, {"mode": "PERMISSIVE"})
        writer = found_writer(data, {id_: each.text if each else "" for id_, each in found.items()})
        wrong = ~writer.is_known | parsed[_CORRUPT].isNotNull()
        failed = F.when(data.isNotNull() & wrong, F.lit(_UNKNOWN))
        value = from_payload(parsed["v"], schema, self.format)
        return Decoded(F.when(failed.isNull(), value), schema, failed)


_UNKNOWN = "it does not start with the id of a known JSON Schema, or is not what that schema says"
