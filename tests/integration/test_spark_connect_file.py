"""The FileStream connectors with a real Spark session: lines in, lines out, each once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.connector_runs import (
    StoredOffsets,
    open_sink,
    open_source,
    page_configs,
    sink_batch,
    values,
)
from tests.spark_session import spark

from headwater.connect.connectors.connector import ConnectorError, TopicPartition
from headwater.connect.connectors.plugins import PLUGINS, plugin
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]

TEXT = Shape(value=Schema(Type.STRING))


def test_lines_become_records_once_they_are_complete(spark: SparkSession, tmp_path: Path) -> None:
    path, offsets = tmp_path / "in.txt", StoredOffsets()
    given = {"connector.class": "FileStreamSource", "file": str(path), "topic": "lines"}
    source = open_source(spark, given, offsets)
    assert source.poll() == ()  # the file is waited for
    path.write_bytes(b"one\ntwo\r\nthr\xc3\xa4")
    rows = source.poll()
    assert values(rows) == ["one", "two"]
    assert rows[0].frame.first().topic == "lines"  # type: ignore[union-attr]
    assert rows[0].shape == TEXT
    assert rows[0].offsets == (({"filename": str(path)}, {"position": 9}),)
    offsets.keep(rows)
    assert source.poll() == ()
    assert source.next_poll_s() > 0
    source.close()

    with path.open("ab") as file:
        file.write(b"e\nfour\n")
    again = open_source(spark, given | {"batch.size": "1"}, offsets)
    assert values(again.poll()) == ["thräe"]
    assert again.next_poll_s() == 0
    assert values(again.poll()) == ["four"]
    again.close()


def test_a_file_that_is_rotated_or_truncated_is_read_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "app.log"
    path.write_text("one\ntwo\n")
    source = open_source(
        spark, {"connector.class": "FileStreamSource", "file": str(path), "topic": "t"}
    )
    assert values(source.poll()) == ["one", "two"]
    with path.open("a") as file:
        path.rename(tmp_path / "app.log.1")
        file.write("three\nfour, which has no end")
    path.write_text("five\n")
    assert values(source.poll()) == ["three"]
    last = source.poll()
    assert values(last) == ["four, which has no end"]
    assert last[0].offsets[0][1] == {"position": 0}
    assert values(source.poll()) == ["five"]
    os.truncate(path, 0)
    path.write_text("six\n")
    source.close()
    offsets = StoredOffsets()
    offsets.keep(last)
    again = open_source(
        spark, {"connector.class": "FileStreamSource", "file": str(path), "topic": "t"}, offsets
    )
    assert values(again.poll()) == ["six"]
    os.truncate(path, 0)
    assert again.poll() == ()
    path.write_text("7\n")
    assert values(again.poll()) == ["7"]
    again.close()


def test_lines_of_any_length_are_read_as_they_were_found(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "long.txt"
    # As long as what a task reads at a time, and longer; \r\n may lie across two of those.
    lines = ["", "x" * 262_142, "ä" * 262_143, "y" * 1_000_000, "", "z"]
    path.write_text("\r\n".join(lines) + "\r\n" + "\n".join(lines) + "\n", newline="")
    with path.open("ab") as file:
        file.write(b"\xe4pfel\n")
    source = open_source(
        spark, {"connector.class": "FileStreamSource", "file": str(path), "topic": "t"}
    )
    rows = source.poll()
    with path.open("a") as file:
        file.write("later\n")
    path.rename(tmp_path / "long.txt.1")
    assert values(rows) == [*lines, *lines, "\ufffdpfel"]
    assert rows[0].topics == frozenset({"t"})
    rows = source.poll()
    assert values(rows) == ["later"]
    os.truncate(tmp_path / "long.txt.1", 0)
    with pytest.raises(Exception, match="has become shorter while its lines were read"):
        rows[0].frame.collect()
    source.close()


def test_records_become_lines_once(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "out.txt"
    given = {"connector.class": "FileStreamSink", "file": str(path)}
    sink = open_sink(spark, given)
    sink.moved_to({TopicPartition("orders", 0): 0})
    rows = [(None, "a"), (None, "b"), (None, None)]
    sink.write(sink_batch(spark, TEXT, rows))
    sink.close()
    # After a crash they come again, with one more.
    again = open_sink(spark, given)
    again.write(sink_batch(spark, TEXT, [*rows, (None, "d")]))
    again.write(sink_batch(spark, TEXT, rows))
    assert path.read_text() == "a\nb\nnull\nd\n"
    # Somebody wants them again, or the topic was made anew.
    again.moved_to({TopicPartition("orders", 0): 0})
    again.write(sink_batch(spark, TEXT, rows[:1]))
    assert path.read_text() == "a\nb\nnull\nd\na\n"
    again.close()


def test_the_examples_of_the_page(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    configs = page_configs("connect-file.md", file=str(path))
    source, sink = (
        open_source(spark, configs["app-log"]),
        open_sink(spark, configs["orders-to-file"]),
    )
    sink.write(sink_batch(spark, TEXT, [(None, "tea"), (None, "milk")]))
    assert values(source.poll()) == ["tea", "milk"]
    source.close()
    sink.close()


def test_structs_are_written_as_java_prints_them(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    inner = connect.struct({"x'y": Schema(Type.INT32, optional=True)})
    value = connect.struct(
        {
            "id": Schema(Type.INT64),
            "name": Schema(Type.STRING, optional=True),
            "tags": Schema(Type.ARRAY, value=Schema(Type.STRING)),
            "counts": Schema(Type.MAP, key=Schema(Type.STRING), value=Schema(Type.INT32)),
            "inner": inner,
        }
    )
    sink = open_sink(spark, {"connector.class": "FileStreamSink", "file": str(path)})
    row = (1, None, ["a", "b"], {"n": 1}, (5,))
    sink.write(sink_batch(spark, Shape(value=value), [(None, row)]))
    assert path.read_text() == "Struct{id=1,tags=[a, b],counts={n=1},inner=Struct{x'y=5}}\n"


def test_each_plugin_describes_its_properties() -> None:
    for each in PLUGINS:
        assert plugin(each.class_names[-1]) is each
        assert all(each.definitions[name].doc for name in each.definitions)


def test_a_name_that_is_not_there_says_which_are() -> None:
    with pytest.raises(ConnectorError, match=r"did you mean one of.*FileStreamSource"):
        plugin("FileStreamSorce")
