"""What programs do besides writing topics: tables, files, prints and calls, through a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.streams_topics import Topics, app_of, run_once, topics
from tests.spark_session import spark
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.spark.jobs.job import Job
from headwater.stores import Position
from headwater.streams import tumbling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from pyspark.sql import SparkSession

    from headwater.streams import App

__all__ = ["spark", "topics"]


def test_a_table_and_files_while_running_and_after_a_replay(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    files = tmp_path / "files"

    def program() -> App:
        app = app_of(topics, tmp_path, stores_dir=tmp_path / "stores", guarantee="exactly_once")
        numbers = app.table(topic, value_type="value bigint")
        numbers.map_values(value="value").store("latest")
        numbers.store("as.read")
        stream = app.stream(topic, value_type="value bigint")
        stream.group_by_key().windowed_by(tumbling("1 minute")).count().store("per.minute")
        stream.to_files(files)
        return app

    topics.write(topic, {"value": 1}, {"value": 2}, key="a")
    topics.write(topic, {"value": 3}, key="b")
    app = program()
    job = Job(app.plan())
    job.start(spark)
    try:
        store = app.store("latest")
        store.wait_until_ready(HUNG_AFTER_S)
        read = Position({topic: {0: 3}})
        assert dict(store.all(at_least=read, timeout_s=HUNG_AFTER_S)) == {
            "a": {"value": 2},
            "b": {"value": 3},
        }
        per_minute = app.window_store("per.minute")
        windows = [*per_minute.fetch("a", at_least=read, timeout_s=HUNG_AFTER_S)]
        assert sum(value["count"] for _, value in windows) == 2
        for window, value in windows:
            assert value["window_start"] == window.start
            assert per_minute.get("a", window.start) == value
        topics.write(topic, None, key="b")
        topics.write(topic, {"value": 4}, key="c")
        read = Position({topic: {0: 5}})
        assert store.get("c", at_least=read, timeout_s=HUNG_AFTER_S) == {"value": 4}
        assert dict(store.all()) == {"a": {"value": 2}, "c": {"value": 4}}
        assert dict(app.store("as.read").all(at_least=read)) == dict(store.all())
        wait_for(lambda: written(spark, files), until=lambda rows: len(rows) == 5)
    finally:
        app.stores.close()
        job.stop()
    # As after a kill: the last batch of each query was written, and is not known to be. One that
    # the stop cut off is not known by itself.
    for query in (tmp_path / "checkpoint").glob("queries/*"):
        last = last_batch(query / "offsets")
        for path in (query / "commits" / str(last), query / "commits" / f".{last}.crc"):
            path.unlink(missing_ok=True)
    topics.write(topic, {"value": 5}, key="b")
    again = program()
    run_once(again, spark)
    with again.stores as stores:
        read = Position({topic: {0: 6}})
        rows = dict(stores.key_value("latest").all(at_least=read, timeout_s=HUNG_AFTER_S))
    assert rows == {"a": {"value": 2}, "b": {"value": 5}, "c": {"value": 4}}
    changes = [(each.key(), each.value()) for each in topics.read("app-latest-changelog", 6)]
    assert changes == [
        (b"a", b'{"value":1}'),
        (b"a", b'{"value":2}'),
        (b"b", b'{"value":3}'),
        (b"b", None),
        (b"c", b'{"value":4}'),
        (b"b", b'{"value":5}'),
    ], "the batch that was done again is there once"
    assert written(spark, files) == [
        ("a", 1), ("a", 2), ("b", None), ("b", 3), ("b", 5), ("c", 4),
    ]  # fmt: skip


def last_batch(log: Path) -> int:
    return max(int(path.name) for path in log.iterdir() if path.name.isdigit())


def test_look_ups_in_real_time_mode(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    topics.write(topic, {"value": 1}, {"value": 2}, key="a")
    app = app_of(topics, tmp_path, name=f"app-{topic}", stores_dir=tmp_path / "stores")
    app.stream(topic, value_type="value bigint").group_by_key().count(emit="record").store("counts")
    job = Job(app.plan())
    job.start(spark)
    try:
        counts = app.store("counts")
        counts.wait_until_ready(HUNG_AFTER_S)
        wait_for(lambda: counts.get("a"), until=lambda found: found == {"count": 2})
        wait_for(lambda: [query.state for query in job.progress()], until=["real-time"].__eq__)
        topics.write(topic, {"value": 3}, key="a")
        wait_for(lambda: counts.get("a"), until=lambda found: found == {"count": 3})
    finally:
        app.stores.close()
        job.stop()


def test_prints_and_calls_once_for_each_record(
    spark: SparkSession,
    topics: Topics,
    topic: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topics.create(topic)
    topics.write(topic, *({"value": value} for value in range(4)))
    app = app_of(topics, tmp_path)
    stream = app.stream(topic, value_type="value bigint")
    noted = stream.peek(noting(tmp_path / "peeked")).filter("value > 0")
    noted.to(f"{topic}-out")
    stream.for_each(noting(tmp_path / "each"))
    stream.filter("value > 1").print("high")
    run_once(app, spark)
    assert len(topics.read(f"{topic}-out", 3)) == 3
    assert sorted((tmp_path / "peeked").read_text().split()) == ["0", "1", "2", "3"]
    assert sorted((tmp_path / "each").read_text().split()) == ["0", "1", "2", "3"]
    out = capsys.readouterr().out.splitlines()
    assert out == ['[high]: k, {"value":2}', '[high]: k, {"value":3}']


def test_a_function_is_asked_once_for_each_record(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    topics.write(topic, *({"value": value} for value in range(6)))
    app = app_of(topics, tmp_path)
    readings = app.stream(topic, value_type="value bigint").peek(noting(tmp_path / "peeked"))
    noted = {name: noting(tmp_path / name) for name in ("low", "even", "odd", "tens", "deep")}

    def low(value: dict[str, int]) -> bool:
        noted["low"](value)
        return value["value"] < 2

    def even(value: dict[str, int]) -> bool:
        noted["even"](value)
        return value["value"] % 2 == 0

    def is_four(key: str, value: dict[str, int]) -> bool:
        noted["deep"](value)
        return key == "k" and value["value"] == 4

    def tens(value: dict[str, int]) -> int:
        noted["tens"](value)
        return value["value"] * 10

    found = readings.split(low=low, top="value = 5", even=even)
    found["low"].filter("value > 0").to(f"{topic}-low")
    found["top"].to(f"{topic}-top")
    found["even"].map_values(tens, returns="bigint").to(f"{topic}-tens")
    (four,) = found["even"].branch(is_four)
    four.to(f"{topic}-four")
    found["default"].peek(noted["odd"]).map(
        lambda key, value: (value["value"], key), returns=("bigint", "string")
    ).to(f"{topic}-odd")
    run_once(app, spark)

    def values(name: str, count: int) -> list[Any]:
        return [each.value() for each in topics.read(f"{topic}-{name}", count)]

    assert values("low", 1) == [b'{"value":1}']
    assert values("top", 1) == [b'{"value":5}']
    assert values("tens", 2) == [(20).to_bytes(8), (40).to_bytes(8)]
    assert values("four", 1) == [b'{"value":4}']
    assert values("odd", 1) == [b"k"]
    asked = {path.name: sorted(path.read_text().split()) for path in tmp_path.glob("[!c]*")}
    assert asked == {
        "peeked": ["0", "1", "2", "3", "4", "5"],
        "low": ["0", "1", "2", "3", "4", "5"],
        "even": ["2", "3", "4"],
        "odd": ["3"],
        "tens": ["2", "4"],
        "deep": ["2", "4"],
    }


def noting(path: Path) -> Callable[[dict[str, Any]], None]:
    name = str(path)

    def note(value: dict[str, Any]) -> None:
        with open(name, "a") as file:
            file.write(f"{value['value']}\n")

    return note


def written(spark: SparkSession, files: Path) -> list[tuple[str, int | None]]:
    if not any((files / "_spark_metadata").glob("[0-9]*")):
        return []  # no batch is complete yet
    rows = spark.read.parquet(str(files)).select("key", "value.value").collect()
    return sorted(((row.key, row.value) for row in rows), key=_nulls_first)


def _nulls_first(row: tuple[str, int | None]) -> tuple[str, int]:
    return row[0], -1 if row[1] is None else row[1]
