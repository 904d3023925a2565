"""JsonConverter: JSON with its schema in an envelope, or without any."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.config import ConfigDef, ConfigType, Definitions, Importance, Values, one_of_any_case
from headwater.connect.converters.converter import Decoded
from headwater.connect.converters.json_payload import (
    PayloadFormat,
    from_payload,
    json_text,
    payload_ddl,
    to_payload,
)
from headwater.connect.converters.json_schemas import as_json_schema, from_json_schema
from headwater.connect.data.merging import merged_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.connect.data.schema import Schema

_CORRUPT = "_corrupt_record"
_PAYLOAD = "payload"


@dataclass(frozen=True)
class JsonConverter:
    """JSON, as Connect's own converter of this name writes and reads it."""

    schemas: bool
    format: PayloadFormat

    definitions: ClassVar[Definitions] = Definitions(
        "converter",
        ConfigDef(
            "schemas.enable",
            ConfigType.BOOLEAN,
            True,
            'Whether each record has its schema with it: {"schema": ..., "payload": ...}.',
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "schemas.cache.size",
            ConfigType.INT,
            1000,
            "The count of schemas that Connect keeps; not needed here.",
            has_effect=False,
        ),
        ConfigDef(
            "decimal.format",
            ConfigType.STRING,
            "BASE64",
            "How decimals are written: as BASE64 of their bytes, or NUMERIC. Both are read.",
            one_of_any_case("BASE64", "NUMERIC"),
            importance=Importance.LOW,
        ),
        ConfigDef(
            "replace.null.with.default",
            ConfigType.BOOLEAN,
            True,
            "Whether a field that is null and has a default takes the default.",
            importance=Importance.LOW,
        ),
        open_prefixes=("",),
    )
    needs_topics: ClassVar[bool] = False

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Take Connect's settings."""
        del is_key
        values = Values(cls.definitions, config)
        numeric = (values.text("decimal.format") or "").upper() == "NUMERIC"
        how = PayloadFormat(numeric, values.boolean("replace.null.with.default"))
        return cls(values.boolean("schemas.enable"), how)

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the JSON; null, with a schema or without, stays null: a tombstone."""
        del topics
        if schema is None:
            text = F.to_json(value.cast("variant"))
            envelope = '{"schema":null,"payload":'
        else:
            text = json_text(to_payload(value, schema, self.format), schema)
            described = as_json_schema(schema, numeric_decimals=self.format.numeric_decimals)
            envelope = f'{{"schema":{_compact(described)},"payload":'
        if self.schemas:
            text = F.concat(F.lit(envelope), text, F.lit("}"))
        return F.when(value.isNotNull(), text).cast("binary")

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the values; with schemas, looks which there are among the records."""
        del topic
        text = frame[column].cast("string")
        if not self.schemas:
            return _schemaless(text, text)
        found = frame.agg(F.collect_set(F.get_json_object(text, "$.schema")).alias("texts")).first()
        texts = sorted(found["texts"]) if found else []
        schemas = [from_json_schema(json.loads(each)) for each in texts if each != "null"]
        if not schemas:
            return self._enveloped(text)
        schema = schemas[0]
        for each in schemas[1:]:
            schema = merged_schema(schema, each)
        wide = f"payload {payload_ddl(schema)}, schema string, {_CORRUPT} string"
        parsed = F.from_json(text, wide, {"mode": "PERMISSIVE"})
        value = from_payload(parsed[_PAYLOAD], schema, self.format)
        wrong = parsed[_CORRUPT].isNotNull() | parsed["schema"].isNull()
        failed = F.when(text.isNotNull() & F.coalesce(wrong, F.lit(True)), F.lit(_NO_ENVELOPE))
        return Decoded(F.when(failed.isNull(), value), schema, failed)

    def _enveloped(self, text: Column) -> Decoded:
        decoded = _schemaless(text, F.get_json_object(text, "$.payload"))
        assert decoded.failed is not None
        # JSON without an envelope has no payload; null in it is none either.
        has_schema = F.try_parse_json(text).isNotNull() & text.rlike(r'"schema"\s*:')
        failed = F.when(
            text.isNotNull() & ~F.coalesce(has_schema, F.lit(False)), F.lit(_NO_ENVELOPE)
        )
        return Decoded(decoded.value, None, failed)


_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain '
    "additional fields. If you are trying to deserialize plain JSON data, set schemas.enable=false "
    "in your converter configuration."
)
_NO_JSON = "Converting byte[] to Kafka Connect data failed due to serialization error: no JSON"


def _schemaless(text: Column, payload: Column) -> Decoded:
    parsed = F.try_parse_json(payload)
    failed = F.when(text.isNotNull() & parsed.isNull(), F.lit(_NO_JSON))
    return Decoded(F.when(~F.is_variant_null(parsed), parsed), None, failed)


def _compact(found: object) -> str:
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)
