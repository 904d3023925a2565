"""Python classes and Spark's formats as connectors, as docs/connect-python.md has them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql.functions import parse_json
from tests.connector_runs import (
    StoredOffsets,
    open_sink,
    open_source,
    page_configs,
    sink_batch,
    values,
)
from tests.docs_page import ROOT, blocks
from tests.spark_session import spark

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.plugins import plugin
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]

PAGE = "connect-python.md"


class Tables:
    """Reads Arrow tables and texts; a source of the tests'."""

    def __init__(self, config: dict[str, str]) -> None:
        self.kind = config["kind"]
        self.told: list[object] = []

    def read(self, offset: dict[str, int] | None) -> tuple[object, dict[str, int] | None]:
        if offset is not None:
            return [], offset
        rows = pa.table({"id": [1, 2]}) if self.kind == "arrow" else ["a", "b"]
        return rows, {"at": 1}

    def committed(self, offset: object) -> None:
        self.told.append(offset)


def test_the_python_examples_of_the_page(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = blocks(ROOT / "docs" / PAGE, "python")
    (tmp_path / "thermometer.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    configs = page_configs(PAGE)
    offsets = StoredOffsets()
    source = open_source(spark, configs["thermometer"], offsets)
    rows = source.poll()
    assert values(rows) == [{"sensor": "cellar", "number": 0, "celsius": 20.5}]
    assert rows[0].frame.first().topic == "temperatures"  # type: ignore[union-attr]
    assert source.next_poll_s() == 0
    offsets.keep(rows)
    source.close()
    again = open_source(spark, configs["thermometer"], offsets)
    assert [value["number"] for value in values([*again.poll(), *again.poll()])] == [1, 2]
    assert again.poll() == ()
    assert again.next_poll_s() > 0

    sink = open_sink(spark, configs["display"])
    sink.write(sink_batch(spark, Shape(value=Schema(Type.STRING)), [(None, "warm")], start=7))
    spark_json = sink_batch(spark, Shape(value=Schema(Type.STRING)), [(None, '{"a": [1]}')])
    frame = spark_json.frame.withColumn("value", parse_json("value"))
    sink.write(type(spark_json)(frame, Shape(), spark_json.ranges))
    sink.close()
    display = importlib.import_module("thermometer").Display
    assert display.shown == ["No. 7: warm", "No. 0: {'a': [1]}"]


def test_rows_may_be_arrow_tables_or_texts(spark: SparkSession) -> None:
    name = f"{__name__}:Tables"
    for kind, expected, types in (
        ("arrow", [{"id": 1}, {"id": 2}], Type.STRUCT),
        ("text", ["a", "b"], Type.STRING),
    ):
        given = {"connector.class": name, "topic": "it's", "config.kind": kind}
        source = open_source(spark, given)
        (rows,) = source.poll()
        assert values([rows]) == expected
        assert rows.shape.value is not None
        assert rows.shape.value.type is types
        assert rows.frame.first().topic == "it's"  # type: ignore[union-attr]
        source.committed()
        assert source.poll() == ()
        source.close()


def test_a_class_that_cannot_be_used_is_refused_in_words() -> None:
    for name, reason in (
        ("no_such_module:Class", r"cannot be imported: .*no_such_module.*PYTHONPATH"),
        (f"{__name__}:Nothing", r"cannot be imported: .*Nothing"),
        ("json:JSONDecodeError", r"neither a method read\(offset\) nor write\(rows\)"),
    ):
        with pytest.raises(ConnectorError, match=reason):
            plugin(name)


def test_the_spark_examples_of_the_page(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "readings"
    folder.mkdir()
    (folder / "1.csv").write_text("id,celsius\n1,20.5\n2,21\n")
    given = page_configs(PAGE, path=str(folder))["readings"] | {"poll.interval.ms": "1"}
    offsets = StoredOffsets()
    source = open_source(spark, given, offsets)
    rows = source.poll()
    assert values(rows) == [{"id": 1, "celsius": 20.5}, {"id": 2, "celsius": 21.0}]
    offsets.keep(rows)
    (folder / "2.csv").write_text("id,celsius\n3,22.5\n")
    again = open_source(spark, given, offsets)
    assert values(again.poll()) == [{"id": 3, "celsius": 22.5}]
    assert again.poll() == []

    out = tmp_path / "out"
    sink = open_sink(spark, page_configs(PAGE, path=str(out))["readings-to-parquet"])
    shape = Shape(value=connect.struct({"id": Schema(Type.INT64)}))
    sink.write(sink_batch(spark, shape, [(None, (1,)), (None, None)]))
    sink.write(sink_batch(spark, shape, [(None, (2,))], start=2))
    assert sorted(row.id for row in spark.read.parquet(str(out)).collect()) == [1, 2]

    # Once: all rows, and after a restart none.
    once = {"connector.class": "SparkSource", "format": "parquet", "path": str(out), "topic": "t"}
    first = open_source(spark, once, offsets)
    rows = first.poll()
    assert sorted(value["id"] for value in values(rows)) == [1, 2]
    offsets.keep(rows)
    assert open_source(spark, once, offsets).poll() == ()
