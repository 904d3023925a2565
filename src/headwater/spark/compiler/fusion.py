"""Several sinks behind one input as one query, which reads and computes the input once.

Spark has no plan with two outputs. So each row of the shared input becomes an array of records, one
for each sink that it reaches, and the array is taken apart again. Operators that make at most one
record of one can be folded into this, each computed once; where others are between, sinks get
queries of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.compiler.encoder import RECORD
from headwater.spark.compiler.folded import Folded
from headwater.spark.compiler.sharing import folded_path, shared_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.plan.nodes import TopicSink
    from headwater.spark.compiler.nodes import NodeCompiler


def fused(sinks: Sequence[TopicSink], compiler: NodeCompiler) -> DataFrame | None:
    """Return the records of all sinks in one, or None where that cannot be."""
    shared = shared_path(sinks)
    if len(sinks) < 2 or not shared:
        return None
    folded = Folded(shared[-1], compiler.rows(shared[-1]))
    for sink in sinks:
        _, path = folded_path(sink)
        for node in path[len(shared) - 1 :]:
            folded.follow(node)
    records = [
        F.when(F.col(f"{prefix}reached"), F.struct(*compiler.encoder.columns(sink, prefix)))
        for sink in sinks
        for prefix in (folded.prefix(sink.parents[0]),)
    ]
    array = F.array_compact(F.array(*records))
    exploded = folded.rows.select(F.explode(array).alias("record"))
    return exploded.select(*(F.col(f"record.{name}").alias(name) for name in RECORD))
