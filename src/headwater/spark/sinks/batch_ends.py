"""Says after each batch where it ends in the topics that stores follow, see headwater/stores."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.spark.sinks.batches import written_by
from headwater.spark.sinks.sink import Sink
from headwater.stores.batches import BatchEnds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from headwater.clients import ClusterAccess
    from headwater.plan.nodes import StoreSink
    from headwater.spark.hadoop_path import HadoopPath


def with_batch_ends(
    sink: Sink,
    stores: Sequence[StoreSink],
    access: ClusterAccess,
    checkpoint: Path | HadoopPath,
    *,
    has_batches: bool,
) -> Sink:
    """Return the sink of a query; where stores follow its topics, it says what they may show."""
    if not stores:
        return sink
    ends = BatchEnds(access.for_admin(), stores[0].batches, [str(each.topic) for each in stores])
    if has_batches:
        return _SinkWithBatchEnds(sink, ends, checkpoint)
    ends.no_batches()
    return sink


@dataclass(frozen=True)
class _SinkWithBatchEnds(Sink):
    """Writes each batch, and then where it ends: no other batch has begun by then."""

    sink: Sink
    ends: BatchEnds
    checkpoint: Path | HadoopPath

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        return written_by(self.batch, frame)

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        self.sink.batch(frame, batch_id)
        self.ends.write(offsets_read(self.checkpoint, batch_id))


def offsets_read(checkpoint: Path | HadoopPath, batch_id: int) -> dict[str, dict[int, int]]:
    """Return by topic and partition what a query has read with a batch and before.

    Spark writes that down before the batch, a line for each source.
    """
    found: dict[str, dict[int, int]] = {}
    for line in (checkpoint / "offsets" / str(batch_id)).read_text("utf-8").splitlines():
        for topic, offsets in _topics(line).items():
            read = found.setdefault(topic, {})
            for partition, offset in offsets.items():
                # A topic that is read twice has been read as far as the slower of the two.
                read[int(partition)] = min(offset, read.get(int(partition), offset))
    return found


def _topics(line: str) -> dict[str, dict[str, int]]:
    try:
        value: Any = json.loads(line)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {topic: parts for topic, parts in value.items() if _is_offsets(parts)}


def _is_offsets(parts: Any) -> bool:
    return isinstance(parts, dict) and all(
        partition.isdigit() and isinstance(offset, int) for partition, offset in parts.items()
    )
