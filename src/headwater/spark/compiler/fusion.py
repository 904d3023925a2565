"""Several sinks behind one input as one query, which reads and computes the input once.

Spark has no plan with two outputs. So each row of the shared input becomes an array of records, one
for each sink that it reaches, and the array is taken apart again. Only native operators that keep
one row one row can be folded into this; where others are between, sinks get queries of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions import Expression
from headwater.plan.nodes import Filter, Map, Table, ToStream
from headwater.plan.scope import Scope
from headwater.spark.compiler.outputs import RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.plan.nodes import Node, TopicSink
    from headwater.spark.compiler.nodes import NodeCompiler
    from headwater.spark.compiler.outputs import Encoder


def fused(sinks: Sequence[TopicSink], compiler: NodeCompiler, encoder: Encoder) -> DataFrame | None:
    """Return the records of all sinks in one, or None where that cannot be."""
    paths = [_path(sink) for sink in sinks]
    shared = _shared(paths)
    if len(sinks) < 2 or not shared:
        return None
    rows = compiler.rows(shared[-1])
    columns = rows.columns
    records = []
    for number, (sink, path) in enumerate(zip(sinks, paths, strict=True)):
        prefix = f"sink{number}_"
        # Spark folds these renamings away; what stays is an expression for each sink.
        rows = rows.withColumns({f"{prefix}{name}": F.col(name) for name in columns})
        rows = rows.withColumn(f"{prefix}reached", F.lit(True))
        for node in path[len(shared) :]:
            rows = _followed(node, rows, prefix)
        record = F.struct(*encoder.columns(sink, prefix))
        records.append(F.when(F.col(f"{prefix}reached"), record))
    exploded = rows.select(F.explode(F.array_compact(F.array(*records))).alias("record"))
    return exploded.select(*(F.col(f"record.{name}").alias(name) for name in RECORD))


def _path(sink: TopicSink) -> list[Node]:
    """Return the foldable operators that lead to a sink, and before them what they start from."""
    path = [sink.parents[0]]
    while _is_foldable(path[0]):
        path.insert(0, path[0].parents[0])
    return path


def _is_foldable(node: Node) -> bool:
    match node:
        case Filter(predicate=predicate):
            return isinstance(predicate, Expression)
        case Map(key=key, value=value, pair=None):
            return all(part is None or isinstance(part, Expression) for part in (key, value))
        case Table() | ToStream():
            return True
    return False


def _shared(paths: Sequence[Sequence[Node]]) -> list[Node]:
    shared: list[Node] = []
    for nodes in zip(*paths, strict=False):
        if any(node is not nodes[0] for node in nodes):
            break
        shared.append(nodes[0])
    return shared


def _followed(node: Node, rows: DataFrame, prefix: str) -> DataFrame:
    scope = Scope.of_record(node.parents[0].row, prefix=prefix) if node.parents else None
    reached = F.col(f"{prefix}reached")
    match node:
        case Filter(predicate=Expression() as predicate):
            assert scope is not None, "a filter has an input"
            # Not computed for rows that were filtered before: there it may not be computable.
            passes = F.when(reached, F.expr(predicate.sql(scope)))
            return rows.withColumn(f"{prefix}reached", F.coalesce(passes, F.lit(False)))
        case Table():
            has_key = F.col(f"{prefix}key").isNotNull()
            return rows.withColumn(f"{prefix}reached", reached & has_key)
        case Map():
            assert scope is not None, "a map has an input"
            return rows.withColumns(
                {
                    f"{prefix}{name}": F.when(reached, F.expr(part.sql(scope)))
                    for name, part in (("key", node.key), ("value", node.value))
                    if isinstance(part, Expression)
                }
            )
    return rows
