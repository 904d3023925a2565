"""Records of Connect in Spark: made of Python values, transformed, and read back as such."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.connect.converters.converter import converter_for
from headwater.connect.data.shape import Shape
from headwater.connect.python_functions import register_functions
from headwater.connect.transforms.application import FAILED, apply_steps
from headwater.connect.transforms.chain import read_chain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

COLUMNS = (
    "topic string, partition int, key binary, value binary, "
    "headers array<struct<key:string,value:binary>>, timestamp timestamp, _offset bigint"
)
JSON = "org.apache.kafka.connect.json.JsonConverter"


def json_records(spark: SparkSession, records: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return records whose keys and values are JSON in bytes; what is not given is null."""
    rows = [
        (
            each.get("topic", "t"),
            each.get("partition", 0),
            _bytes(each.get("key")),
            _bytes(each.get("value")),
            [(name, text.encode()) for name, text in each.get("headers", {}).items()],
            each.get("timestamp"),
            offset,
        )
        for offset, each in enumerate(records)
    ]
    frame = spark.createDataFrame(rows, COLUMNS.replace("timestamp timestamp", "millis bigint"))
    return frame.selectExpr(
        *("topic", "partition", "key", "value", "headers"),
        *("timestamp_millis(millis) as timestamp", "_offset"),
    )


def transformed(
    frame: DataFrame, shape: Shape, config: Mapping[str, str]
) -> tuple[DataFrame, Shape]:
    """Return the records after a connector's transforms."""
    steps, made = read_chain(config).compile(shape)
    register_functions(frame.sparkSession, steps)
    return apply_steps(frame, steps), made


def without_schemas(
    spark: SparkSession, records: Sequence[Mapping[str, Any]], config: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return what a connector's transforms make of records without schemas, as Python values."""
    converter = converter_for(JSON, {"schemas.enable": "false"}, is_key=False)
    frame = json_records(spark, records)
    key, value = (converter.from_bytes(frame, side, "t") for side in ("key", "value"))
    decoded = frame.withColumns({"key": key.value, "value": value.value})
    made, _ = transformed(decoded, Shape(), config)
    encoded = made.withColumns(
        {side: converter.to_bytes(made[side], None) for side in ("key", "value")}
    ).selectExpr("*", "unix_millis(timestamp) as millis")
    return [_plain(row.asDict(recursive=True)) for row in encoded.orderBy("_offset").collect()]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "topic": row["topic"],
        "key": None if row["key"] is None else json.loads(bytes(row["key"])),
        "value": None if row["value"] is None else json.loads(bytes(row["value"])),
        "headers": {each["key"]: bytes(each["value"]).decode() for each in row["headers"]},
        "timestamp": row["millis"],
        "failed": row[FAILED],
    }


def _bytes(value: Any) -> bytes | None:
    return None if value is None else json.dumps(value).encode()
