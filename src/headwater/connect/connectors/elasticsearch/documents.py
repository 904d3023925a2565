"""Records as lines of a bulk request: what is done with a document, and the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from headwater.connect.connectors.elasticsearch.settings import (
    WriteMethod,
    choice,
    is_stream,
    write_method,
)
from headwater.connect.converters.java_text import java_text
from headwater.connect.converters.json_payload import json_text
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import SinkBatch

_IDS = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.STRING)
_SCHEMALESS_IDS = ("BIGINT", "STRING")
_MOST_ID_BYTES = 512
_MOST_INDEX_BYTES = 255
# A document that somebody else changes in the same moment is changed once more.
_RETRY_ON_CONFLICT = 5


def bulk_lines(batch: SinkBatch, config: Values) -> DataFrame:
    """Return a batch's records: `lines`, or `refused`, the reason why there are none.

    `index` is null for those that only delete. Fails, with the record's place, for what the
    properties say must not be left out.
    """
    return _Documents(batch, config).frame()


class _Documents:
    """The columns of one batch."""

    def __init__(self, batch: SinkBatch, config: Values) -> None:
        self._batch = batch
        self._config = config
        self._method = write_method(config)
        self._is_stream = is_stream(config)
        # In a data stream each record is an event, whatever its key.
        self._ignores_key = F.lit(True) if self._is_stream else _for_topics(config, "key.ignore")
        self._key, self._invalid_key = self._id_of_key(batch.shape.key)
        self._source = _source(batch.shape.value, compact=config.boolean("compact.map.entries"))
        if self._is_stream:
            self._source = _with_timestamp(
                self._source, config.words("data.stream.timestamp.field")
            )
        self._deletes = F.col("value").isNull()

    def frame(self) -> DataFrame:
        frame = self._batch.frame.withColumn("_source", self._source)
        refused = F.coalesce(self._invalid(), self._malformed())
        frame = frame.select(
            "*",
            refused.alias("refused"),
            F.substring(self._index(), 1, _MOST_INDEX_BYTES).alias("_index"),
        )
        written = F.when(self._deletes, self._delete()).otherwise(self._write())
        return frame.where(self._is_wanted()).select(
            "_topic",
            "_partition",
            "_offset",
            F.when(~self._deletes, F.col("_index")).alias("index"),
            _for_topics(self._config, "schema.ignore").alias("ignores_schema"),
            F.when(F.col("refused").isNull(), written).alias("lines"),
            "refused",
        )

    def _index(self) -> Column:
        if not self._is_stream:
            return F.regexp_replace(F.lower("topic"), "^[-_]+", "")
        names = (f"data.stream.{part}" for part in ("type", "dataset", "namespace"))
        name = "-".join(self._config.text(each) or "" for each in names)
        return F.lower(F.replace(F.lit(name), F.lit("${topic}"), F.col("topic")))

    def _is_wanted(self) -> Column:
        match choice(self._config, "behavior.on.null.values"):
            case "ignore":
                return ~self._deletes
            case "delete":
                # A document that has no key's id is no older record's.
                return ~self._deletes | (~self._ignores_key & F.col("key").isNotNull())
        reason = _at_place(
            "has no value; behavior.on.null.values says what becomes of such records"
        )
        return F.when(~self._deletes, F.lit(True)).otherwise(F.raise_error(reason).cast("boolean"))

    def _id_of_key(self, schema: Schema | None) -> tuple[Column, Column]:
        key = F.col("key")
        text = java_text(key, schema)
        if schema is None:
            kind = F.schema_of_variant(key.cast("variant"))
            wrong = F.when(~kind.isin(*_SCHEMALESS_IDS), kind)
        elif schema.type in _IDS and schema.logical is None:
            wrong = F.lit(None).cast("string")
        else:
            wrong = F.lit(str(schema.type))
        said = F.concat(F.lit("its key is of the type "), wrong, F.lit(", and no text or number"))
        missing = F.lit("its key is missing or empty")
        long = F.lit(f"its key has more than {_MOST_ID_BYTES} bytes")
        return text, (
            F.when(key.isNull(), missing)
            .when(wrong.isNotNull(), said)
            .when(F.octet_length(text) == 0, missing)
            .when(F.octet_length(text) > _MOST_ID_BYTES, long)
        )

    def _invalid(self) -> Column:
        reason = F.when(~self._ignores_key, self._invalid_key)
        if self._config.text("external.version.header"):
            wrong = F.lit("its header with the version is missing, or no whole number")
            without = self._version().isNull() & ~self._ignores_key
            reason = F.coalesce(reason, F.when(without, wrong))
        if self._config.boolean("drop.invalid.message"):
            return reason
        hint = "cannot be a document: {}; key.ignore=true needs no keys, drop.invalid.message=true"
        return _failing(reason, f"{hint} leaves such records out")

    def _malformed(self) -> Column:
        is_object = F.col("_source").startswith("{")
        wrong = ~self._deletes & ~F.coalesce(is_object, F.lit(False))
        reason = F.when(wrong, F.lit("its value is no JSON object"))
        if choice(self._config, "behavior.on.malformed.documents") != "fail":
            return reason
        return _failing(
            reason, "cannot be a document: {}; behavior.on.malformed.documents leaves such out"
        )

    def _version(self) -> Column:
        header = self._config.text("external.version.header")
        if not header:
            return F.col("_offset")
        found = F.filter("headers", lambda each: each["key"] == header)
        return F.try_element_at(found, F.lit(-1))["value"].cast("string").try_cast("bigint")

    def _id(self) -> Column:
        # Where it came from, and not where transforms have sent it: that is one record's alone.
        place = F.format_string("%s+%d+%d", "_topic", "_partition", "_offset")
        return F.when(self._ignores_key, place).otherwise(self._key)

    def _versioned(self) -> Sequence[Column]:
        # What a document of a key has is replaced by later offsets only, however often it comes.
        if self._method is WriteMethod.UPSERT:
            return ()
        return (
            F.when(~self._ignores_key, self._version()).alias("version"),
            F.when(~self._ignores_key, F.lit("external")).alias("version_type"),
        )

    def _action(self, name: str, *further: Column) -> Column:
        of = F.struct(F.col("_index"), self._id().alias("_id"), *further)
        return F.concat(F.to_json(F.struct(of.alias(name))), F.lit("\n"))

    def _delete(self) -> Column:
        return self._action("delete", *self._versioned())

    def _write(self) -> Column:
        source = F.col("_source")
        if self._is_stream:
            return F.concat(self._action("create"), source, F.lit("\n"))
        if self._method is WriteMethod.INSERT:
            return F.concat(self._action("index", *self._versioned()), source, F.lit("\n"))
        retry = F.lit(_RETRY_ON_CONFLICT).alias("retry_on_conflict")
        doc = F.concat(F.lit('{"doc":'), source, F.lit(',"doc_as_upsert":true}\n'))
        return F.concat(self._action("update", retry), doc)


def _source(schema: Schema | None, *, compact: bool) -> Column:
    value = F.col("value")
    if schema is None:
        return F.to_json(value.cast("variant"))
    return json_text(_document(value, schema, compact=compact), schema)


def _with_timestamp(source: Column, fields: Sequence[str]) -> Column:
    """Return a document with the time that a data stream demands; one that has its own keeps it."""
    millis = F.unix_millis("timestamp").cast("string")
    stamp = F.coalesce(*(F.get_json_object(source, f"$['{name}']") for name in fields), millis)
    begin = F.to_json(F.struct(stamp.alias("@timestamp")))
    rest = F.when(source == "{}", F.lit("}")).otherwise(
        F.concat(F.lit(","), F.substr(source, F.lit(2)))
    )
    has_none = F.get_json_object(source, "$['@timestamp']").isNull() & source.startswith("{")
    return F.when(
        has_none & stamp.isNotNull(), F.concat(F.rtrim(begin, F.lit("}")), rest)
    ).otherwise(source)


def _document(value: Column, schema: Schema, *, compact: bool) -> Column:
    def inner(part: Column, of: Schema | None) -> Column:
        assert of is not None
        return _document(part, of, compact=compact)

    if schema.default is not None:
        value = F.coalesce(value, F.expr(literal(schema.default, schema)))
    match schema.logical:
        case connect.DECIMAL:
            return value.cast("double")
        case connect.DATE:
            return value.cast("string")
        case connect.TIMESTAMP:
            return F.unix_millis(value)
    match schema.type:
        case Type.STRUCT:
            fields = (
                inner(value.getField(each.name), each.schema).alias(each.name)
                for each in schema.fields
            )
            return F.when(value.isNotNull(), F.struct(*fields))
        case Type.ARRAY:
            return F.transform(value, lambda each: inner(each, schema.value))
        case Type.MAP if compact and schema.key is not None and schema.key.type is Type.STRING:
            return F.transform_values(value, lambda _, each: inner(each, schema.value))
        case Type.MAP:
            return F.transform(
                F.map_entries(value),
                lambda entry: F.struct(
                    inner(entry["key"], schema.key).alias("key"),
                    inner(entry["value"], schema.value).alias("value"),
                ),
            )
    return value


def _for_topics(config: Values, name: str) -> Column:
    if config.boolean(name):
        return F.lit(True)
    return F.col("topic").isin(*config.words(f"topic.{name}"))


def _failing(reason: Column, message: str) -> Column:
    before, after = message.split("{}")
    said = F.concat(_at_place(before), reason, F.lit(after))
    return F.when(reason.isNotNull(), F.raise_error(said).cast("string"))


def _at_place(text: str) -> Column:
    place = F.format_string("%s [%d] offset %d ", "_topic", "_partition", "_offset")
    return F.concat(place, F.lit(text))
