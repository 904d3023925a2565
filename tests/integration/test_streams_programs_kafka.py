"""Programs on Spark against Apache Kafka: history processed once, compared with plain Python."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from tests.integration.spark_sink_pipeline import read_committed
from tests.integration.streams_topics import Topics, app_of, run_once
from tests.kafka_process import KafkaProcess
from tests.spark_session import spark

from headwater.streams import col, count, tumbling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]

READING = "id string, value bigint"
WINDOW_MS = 10_000
# A window begins here. Of today, or else retention deletes the records as soon as it looks.
START_MS = (int(time.time() * 1000) // WINDOW_MS - 10) * WINDOW_MS
COUNT = 300


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaProcess]:
    process = KafkaProcess(tmp_path_factory.mktemp("kafka") / "data")
    process.start()
    yield process
    process.stop()


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_filter_join_and_window_over_history(
    spark: SparkSession, kafka: KafkaProcess, topic: str, tmp_path: Path, guarantee: Any
) -> None:
    topics = Topics(kafka.bootstrap_servers)
    readings, units = f"{topic}-readings", f"{topic}-units"
    topics.create(readings, units)
    app = app_of(topics, tmp_path, guarantee=guarantee)
    stream = app.stream(readings, value_type=READING)
    stream.filter(col("value") > COUNT / 2).to(f"{topic}-high")
    table = app.table(units, value_type="unit string")
    stream.join(table, value="left.value", unit="right.unit").to(f"{topic}-joined")
    windows = stream.group_by_key().windowed_by(tumbling("10 seconds"))
    windows.aggregate(n=count()).to_stream().to(f"{topic}-counts")

    write(topics, units, [("0", {"unit": "C"}, 0), ("1", {"unit": "bar"}, 0), ("1", None, 1)])
    records = [(str(n % 3), {"id": str(n % 3), "value": n}, 1000 + n * 100) for n in range(COUNT)]
    half = COUNT // 2
    write(topics, readings, records[:half])
    if guarantee == "exactly_once":
        run_once(app, spark)
        kafka.kill()
        kafka.start()
    write(topics, readings, records[half:])
    run_once(app, spark)

    high = [n for n in range(COUNT) if n > COUNT / 2]
    assert sorted(each["value"] for _, each in committed(topics, f"{topic}-high")) == high
    joined = [each for _, each in committed(topics, f"{topic}-joined")]
    assert sorted(each["value"] for each in joined) == [n for n in range(COUNT) if n % 3 == 0]
    assert {each["unit"] for each in joined} == {"C"}
    # The last count of each key and window.
    counts = committed(topics, f"{topic}-counts")
    found = {(key, each["window_start"]): each["n"] for key, each in counts}
    assert Counter(found.values()) == Counter(
        Counter((key, at // WINDOW_MS) for key, _, at in records).values()
    )


def write(topics: Topics, topic: str, records: list[tuple[str, Any, int]]) -> None:
    producer = Producer({"bootstrap.servers": topics.servers, "log_level": 0})
    for key, value, at in records:
        data = None if value is None else json.dumps(value)
        producer.produce(topic, data, key, timestamp=START_MS + at)
    assert producer.flush(60) == 0


def committed(topics: Topics, topic: str) -> list[tuple[str, Any]]:
    """All keys and values of a topic, as they are read by those who read what is committed."""
    return [
        ((each.key() or b"").decode("latin-1"), json.loads(each.value() or b"null"))
        for each in read_committed(topics.servers, topic)
    ]
