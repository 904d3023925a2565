"""What does not go the usual way, in queries of its own: malformed records and late ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, assert_never

from headwater.plan.formats import Format
from headwater.plan.nodes import (
    Aggregate,
    Changes,
    ForeignKeyJoin,
    Process,
    Sink,
    Source,
    Stateless,
    StreamStreamJoin,
    StreamTableJoin,
    Suppress,
    TableAggregate,
    TableTableJoin,
    TopicSink,
)
from headwater.plan.schemas.types import BIGINT, BINARY, DOUBLE, STRING
from headwater.spark.compiler.aggregates import late_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from headwater.plan.nodes import TopicSource
    from headwater.plan.splitting.stages import Stage
    from headwater.spark.compiler.nodes import NodeCompiler

_KEY_FORMATS = {STRING: "string", BIGINT: "long", DOUBLE: "double", BINARY: "bytes"}


class Aside(NamedTuple):
    """Records for a topic beside the plan's own, encoded, and a name for their query."""

    name: str
    sink: TopicSink
    rows: DataFrame


def dead_letters(stage: Stage, compiler: NodeCompiler) -> Iterator[Aside]:
    """Yield for each source what it could not decode, where this stage keeps it."""
    for source in stage.dead_letters:
        yield Aside(
            f"dead-letters-{source.id}", _dead_letter_sink(source), compiler.malformed(source)
        )


def late_records(stage: Stage, compiler: NodeCompiler) -> Iterator[Aside]:
    """Yield for each operator the records that came too late, if they are kept."""
    for node in stage.plan.walk():
        match node:
            case Aggregate():
                if node.late_to is not None:
                    sink = _late_sink(node, node.late_to)
                    rows = late_rows(node, compiler.rows(node.parents[0]))
                    yield Aside(f"late-{node.id}", sink, compiler.encoder.encoded(sink, rows))
            case Changes() | TableAggregate() | Suppress() | Process():
                pass
            case StreamTableJoin() | TableTableJoin() | ForeignKeyJoin() | StreamStreamJoin():
                pass
            case Source() | Sink() | Stateless():
                pass
            case _:
                assert_never(node)


def _dead_letter_sink(source: TopicSource) -> TopicSink:
    return TopicSink(
        id=f"{source.id}-dead-letters", parents=(source,), row=source.row,
        location=source.location, topic=str(source.on_malformed.dead_letter_topic),
        key_format=Format("bytes"), value_format=Format("bytes"),
    )  # fmt: skip


def _late_sink(node: Aggregate, topic: str) -> TopicSink:
    row = node.parents[0].row
    key_kind = next((kind for type_, kind in _KEY_FORMATS.items() if row.key == type_), "json")
    return TopicSink(
        id=f"{node.id}-late", parents=node.parents, row=row, location=node.location, topic=topic,
        key_format=Format(key_kind), value_format=Format("json"),
    )  # fmt: skip
