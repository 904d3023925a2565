"""`header.converter`: headers that transforms add as each converter writes them, and read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark_session import spark

from headwater.config import ConfigError
from headwater.connect.converters.headers import SIMPLE, header_converter_for
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type, struct
from headwater.connect.data.shape import Shape
from headwater.connect.data.spark_types import ddl
from headwater.connect.transforms.application import apply_steps
from headwater.connect.transforms.chain import read_chain
from headwater.connect.transforms.transform import TransformError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]

KAFKA = "org.apache.kafka.connect"
JSON = f"{KAFKA}.json.JsonConverter"
TYPES = {
    "id": Schema(Type.INT64),
    "small": Schema(Type.INT16),
    "name": Schema(Type.STRING, optional=True),
    "good": Schema(Type.BOOLEAN),
    "data": Schema(Type.BYTES),
    "born": connect.date(),
    "seen": connect.timestamp(),
    "tags": Schema(Type.ARRAY, value=Schema(Type.STRING)),
    "price": connect.decimal(2, 9),
}
VALUE = struct(TYPES)
ROW = (
    "named_struct('id', -7L, 'small', -2S, 'name', 'it\\'s \"x\"', 'good', true, 'data', X'00FF', "
    "'born', date'1970-01-03', 'seen', timestamp'1970-01-01 00:00:05Z', 'tags', array('a', 'b'), "
    "'price', cast(1.25 as decimal(9,2)))"
)


def added(
    spark: SparkSession, converter: str, settings: dict[str, str], *fields: str
) -> dict[str, bytes | None]:
    """Return the headers that HeaderFrom makes of fields, and InsertHeader of 300."""
    config = {
        "transforms": "from,kind",
        "transforms.from.type": f"{KAFKA}.transforms.HeaderFrom$Value",
        "transforms.from.fields": ",".join(fields),
        "transforms.from.headers": ",".join(fields),
        "transforms.from.operation": "copy",
        "transforms.kind.type": f"{KAFKA}.transforms.InsertHeader",
        "transforms.kind.header": "kind",
        "transforms.kind.value.literal": "300",
    }
    shape = Shape(None, VALUE, header_converter_for(converter, settings))
    steps, _ = read_chain(config).compile(shape)
    before = spark.sql(
        f"select cast({ROW} as {ddl(VALUE)}) as value, "
        "array(named_struct('key', 'old', 'value', X'01')) as headers"
    )
    (row,) = apply_steps(before, steps).collect()
    return {each.key: None if each.value is None else bytes(each.value) for each in row.headers}


def read(
    spark: SparkSession, converter: str, settings: dict[str, str], **headers: bytes | None
) -> tuple[dict[str, Any] | None, str | None]:
    """Return headers as a sink gets them, or why it does not."""
    reading = header_converter_for(converter, settings).from_bytes()
    rows = [(list(headers.items()),)]
    frame = spark.createDataFrame(rows, "headers array<struct<key:string,value:binary>>")
    (row,) = frame.selectExpr(
        f"{reading.headers} as headers", f"{reading.failed} as failed"
    ).collect()
    if row.headers is None:
        return None, row.failed
    found = {each.key: None if each.value is None else bytes(each.value) for each in row.headers}
    return found, row.failed


def test_added_headers_are_written_by_the_converter(spark: SparkSession) -> None:
    assert added(spark, SIMPLE, {}, "id", "name", "good", "data", "born", "tags", "price") == {
        "old": b"\1",
        "id": b"-7",
        "name": b'it\'s "x"',
        "good": b"true",
        "data": b"AP8=",
        "born": b"1970-01-03",
        "tags": b'["a","b"]',
        "price": b"1.25",
        "kind": b"300",
    }
    fields = ("id", "name", "good", "data", "born", "seen", "tags")
    values = [-7, 'it\'s "x"', True, "AP8=", 2, 5000, ["a", "b"], 300]
    plain = added(spark, JSON, {"schemas.enable": "false"}, *fields)
    assert plain.pop("old") == b"\1"
    assert [json.loads(each or b"") for each in plain.values()] == values
    described = added(spark, JSON, {}, *fields)
    assert described["id"] == b'{"schema":{"type":"int64","optional":false},"payload":-7}'
    assert described["kind"] == b'{"schema":{"type":"int16","optional":false},"payload":300}'
    del described["old"]
    assert [json.loads(each or b"")["payload"] for each in described.values()] == values
    short = f"{KAFKA}.converters.ShortConverter"
    assert added(spark, short, {}, "small") == {
        "old": b"\1",
        "small": b"\xff\xfe",
        "kind": b"\x01\x2c",
    }


def test_headers_are_read_by_the_converter(spark: SparkSession) -> None:
    given: dict[str, bytes | None] = {"a": b"x", "b": None}
    assert read(spark, SIMPLE, {}, **given) == (given, None)
    plain = {"schemas.enable": "false"}
    found = read(spark, JSON, plain, a=b'"it\'s"', b=b"-7", c=b'{"d":[1]}', n=None)
    assert found == ({"a": b"it's", "b": b"-7", "c": b'{"d":[1]}', "n": None}, None)
    written = b'{"schema":{"type":"string","optional":true},"payload":"x"}'
    assert read(spark, JSON, {}, a=written) == ({"a": b"x"}, None)
    for settings, wrong in ((plain, b"{"), ({}, b"7")):
        headers, failed = read(spark, JSON, settings, good=None, bad=wrong)
        assert headers is None
        assert "the header bad cannot be read" in (failed or "")
    for name, size in (("Short", 2), ("Integer", 4), ("Long", 8)):
        converter = f"{KAFKA}.converters.{name}Converter"
        for number in (0, 300, -2, -(1 << 8 * size - 1), (1 << 8 * size - 1) - 1):
            data = number.to_bytes(size, "big", signed=True)
            assert read(spark, converter, {}, n=data) == ({"n": str(number).encode()}, None)
        headers, failed = read(spark, converter, {}, n=b"\1\2\3")
        assert headers is None
        assert f"not {size} bytes" in (failed or "")


def test_what_a_converter_cannot_write_is_refused(spark: SparkSession) -> None:
    for converter, field, said in (
        (f"{KAFKA}.converters.ByteArrayConverter", "id", "takes bytes"),
        (f"{KAFKA}.converters.LongConverter", "name", "takes int64"),
        (JSON, "price", "decimal"),
    ):
        with pytest.raises(TransformError, match=f"transforms.from: header.converter.*{said}"):
            added(spark, converter, {}, field)
    with pytest.raises(ConfigError, match="there is no such converter for headers"):
        header_converter_for("Nonsense", {})
    with pytest.raises(ConfigError, match=r"header\.converter\.schemas\.enable"):
        header_converter_for(JSON, {"schemas.enable": "perhaps"})
