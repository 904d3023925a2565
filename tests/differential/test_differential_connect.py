"""Kafka Connect's own transforms and ours make the same of the same records."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import unmet
from tests.differential import connect_cases as cases
from tests.differential.kafka_connect_records import KafkaConnectRecords
from tests.effort import often
from tests.spark_session import spark

from headwater.connect.converters.converter import converter_for
from headwater.connect.data.shape import Shape
from headwater.connect.transforms.application import FAILED, apply_steps
from headwater.connect.transforms.chain import read_chain
from headwater.connect.transforms.transform import TransformError
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from headwater.connect.converters.converter import Converter

__all__ = ["spark"]

JSON = "org.apache.kafka.connect.json.JsonConverter"
COLUMNS = (
    "topic string, partition int, key binary, value binary, "
    "headers array<struct<key:string,value:binary>>, timestamp timestamp, _offset bigint"
)


@pytest.fixture(scope="module")
def judge() -> Iterator[KafkaConnectRecords]:
    if find_java().javac is None:
        unmet("Kafka Connect's transforms are run by a small Java program, which takes a JDK")
    connect = KafkaConnectRecords()
    yield connect
    connect.close()


@pytest.mark.parametrize("schemas", [True, False], ids=["schemas", "schemaless"])
def test_transforms_make_what_kafkas_make(
    spark: SparkSession, judge: KafkaConnectRecords, schemas: bool
) -> None:
    chains = [(each,) for each in cases.BOTH] + list(cases.CHAINS)
    if schemas:
        chains += [(each,) for each in cases.WITH_SCHEMA]
    records = cases.records(12, often(40, in_soak=2000), schemas=schemas)
    converter = converter_for(JSON, {"schemas.enable": str(schemas).lower()}, is_key=False)
    source = _decoded(spark, converter, records)
    differences = []
    for chain in chains:
        expected = [_plain(each) for each in judge.run(chain, records, schemas=schemas)]
        made = _ours(source, converter, chain, len(records))
        for record, theirs, ours in zip(records, expected, made, strict=True):
            if not (_same(theirs, ours) or _known(chain, record, theirs, ours)):
                differences.append(f"{chain}\n  {record}\n  theirs {theirs}\n  ours   {ours}")
                break
    assert not differences, f"{len(differences)} differ:\n" + "\n".join(differences)


def _known(chain: Any, record: Mapping[str, Any], theirs: Any, ours: Any) -> bool:
    """Tell a difference that is on purpose: docs/connect-transforms.md has them."""
    if theirs is not None and "null value for field that is required" in theirs.get("failed", ""):
        return ours is not None and ours["value"] is None
    if record["value"] is not None:
        return False
    # A batch has one schema, also for its tombstones; theirs have none.
    return "all" in ours or "HoistField$Value" in chain[0]["type"]


def _decoded(
    spark: SparkSession, converter: Converter, records: Sequence[Mapping[str, Any]]
) -> tuple[DataFrame, Shape]:
    from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

    rows = [
        (
            each["topic"],
            each["partition"],
            _bytes(each["key"]),
            _bytes(each["value"]),
            [(name, value.encode()) for name, value in each["headers"]],
            None,
            each["offset"],
        )
        for each in records
    ]
    frame = spark.createDataFrame(rows, COLUMNS).coalesce(1)
    times = {each["offset"]: each["timestamp"] for each in records if each["timestamp"] is not None}
    millis = F.create_map(*(F.lit(part) for pair in times.items() for part in pair))
    frame = frame.withColumn("timestamp", F.timestamp_millis(F.try_element_at(millis, "_offset")))
    key = converter.from_bytes(frame, "key", "topic")
    value = converter.from_bytes(frame, "value", "topic")
    decoded = frame.withColumns({"key": key.value, "value": value.value}).cache()
    return decoded, Shape(key.schema, value.schema)


def _ours(
    source: tuple[DataFrame, Shape],
    converter: Converter,
    chain: Sequence[Mapping[str, str]],
    count: int,
) -> list[Any]:
    config = {"transforms": ",".join(f"t{number}" for number in range(len(chain)))}
    for number, settings in enumerate(chain):
        config |= {f"transforms.t{number}.{name}": text for name, text in settings.items()}
    frame, shape = source
    try:
        steps, made = read_chain(config).compile(shape)
    except TransformError as failure:
        return [{"failed": str(failure), "all": True}] * count
    frame = apply_steps(frame, steps)
    frame = frame.withColumns(
        {
            "key": converter.to_bytes(frame["key"], made.key),
            "value": converter.to_bytes(frame["value"], made.value),
        }
    )
    results: list[Any] = [None] * count
    for row in frame.collect():
        results[row["_offset"]] = (
            {"failed": row[FAILED]}
            if row[FAILED] is not None
            else _plain(
                {
                    "topic": row["topic"],
                    "key": _text(row["key"]),
                    "value": _text(row["value"]),
                    "headers": [[each["key"], _text(each["value"])] for each in row["headers"]],
                }
            )
        )
    return results


def _plain(made: Any) -> Any:
    """Return a record with parsed JSON; a null with a schema is a tombstone."""
    if made is None or "failed" in made:
        return made
    plain = dict(made)
    for side in ("key", "value"):
        found = None if plain[side] is None else json.loads(plain[side])
        if isinstance(found, dict) and found.keys() == {"schema", "payload"}:
            found = None if found["payload"] is None else found
        plain[side] = found
    return plain


def _same(theirs: Any, ours: Any) -> bool:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if "failed" in theirs or "failed" in ours:
            return "failed" in theirs and "failed" in ours
        return theirs.keys() == ours.keys() and all(_same(theirs[k], ours[k]) for k in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(map(_same, theirs, ours))
    if isinstance(theirs, float) or isinstance(ours, float):
        return (
            isinstance(theirs, int | float)
            and isinstance(ours, int | float)
            and math.isclose(theirs, ours, rel_tol=1e-12)
        )
    return type(theirs) is type(ours) and bool(theirs == ours)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).decode()
