"""Finds the record that a batch failed on, where Spark only says that there is one.

Native decoding fails without a word of where. Looking for the place costs a second reading of the
batch, and nothing while all is well.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.plan.nodes import OnMalformed, Start
from headwater.spark.jobs.failures import malformed_record
from headwater.spark.sources.topic import malformed_rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.plan.nodes import TopicSource
    from headwater.plan.splitting.stages import Stage
    from headwater.spark.formats.schemas import Schemas
    from headwater.spark.hadoop_path import HadoopPath
    from headwater.spark.topics import RecordReader


def find_malformed(
    stage: Stage,
    reader: RecordReader,
    checkpoint: Path | HadoopPath,
    spark: SparkSession,
    schemas: Schemas,
) -> str | None:
    """Return the place and the reason of the first malformed record after the last good batch."""
    start = _after_last_commit(checkpoint)
    for source in stage.topic_sources:
        if not source.on_malformed.fails or source.internal:
            continue
        looking = replace(
            source, on_malformed=OnMalformed("dead-letters"), start=_start(source, start)
        )
        found = malformed_rows(looking, reader.read(looking), spark, schemas).select("headers")
        rows = found.limit(1).collect()
        if rows:
            named = {header["key"]: bytes(header["value"]).decode() for header in rows[0][0]}
            return malformed_record(
                f"malformed record, {named['headwater.topic']} [{named['headwater.partition']}] at "
                f"offset {named['headwater.offset']}, {named['headwater.reason']}"
            )
    return None


def _start(source: TopicSource, start: dict[str, dict[int, int]]) -> Start:
    mine = {topic: start[topic] for topic in source.topics if topic in start}
    return Start("offsets", offsets=mine) if mine else source.start


def _after_last_commit(checkpoint: Path | HadoopPath) -> dict[str, dict[int, int]]:
    """Read Spark's own log: the end of the last batch that it finished."""
    numbers = [int(path.name) for path in checkpoint.glob("commits/*") if path.name.isdigit()]
    if not numbers:
        return {}
    lines = (checkpoint / "offsets" / str(max(numbers))).read_text("utf-8").splitlines()
    offsets: dict[str, dict[int, int]] = {}
    for line in lines[2:]:  # a version, the batch's settings, then a line for each source
        parsed: Any = json.loads(line) if line.startswith("{") else {}
        for topic, partitions in parsed.items():
            offsets[topic] = {int(number): int(offset) for number, offset in partitions.items()}
    return offsets
