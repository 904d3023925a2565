"""What does not go the usual way, in queries of its own: broken records and late ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.formats import Format
from headwater.plan.nodes import Aggregate, TopicSink
from headwater.plan.types import BIGINT, BINARY, DOUBLE, STRING
from headwater.spark.compiler.aggregates import late_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from headwater.plan.stages import Stage
    from headwater.spark.compiler.nodes import NodeCompiler
    from headwater.spark.compiler.outputs import Encoder

_KEY_FORMATS = {STRING: "string", BIGINT: "long", DOUBLE: "double", BINARY: "bytes"}


def dead_letters(stage: Stage, compiler: NodeCompiler) -> Iterator[tuple[str, DataFrame]]:
    """Yield for each source what it could not decode, where this stage keeps it, and a name."""
    for source in stage.dead_letters:
        yield f"dead-letters-{source.id}", compiler.broken(source)


def late_records(
    stage: Stage, compiler: NodeCompiler, encoder: Encoder
) -> Iterator[tuple[str, DataFrame]]:
    """Yield for each aggregate the records that came too late, if they are kept, and a name."""
    for node in stage.plan.walk():
        if isinstance(node, Aggregate) and node.late_to is not None:
            rows = late_rows(node, compiler.rows(node.parents[0]))
            yield f"late-{node.id}", encoder.encoded(_late_sink(node, node.late_to), rows)


def _late_sink(node: Aggregate, topic: str) -> TopicSink:
    row = node.parents[0].row
    key_kind = next((kind for type_, kind in _KEY_FORMATS.items() if row.key == type_), "json")
    return TopicSink(
        id=f"{node.id}-late", parents=node.parents, row=row, location=node.location, topic=topic,
        key_format=Format(key_kind), value_format=Format("json"),
    )  # fmt: skip
