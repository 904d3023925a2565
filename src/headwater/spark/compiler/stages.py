"""Stages become queries: what to read and compute, in which mode, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from headwater.plan.errors import PlanError
from headwater.plan.guarantees import dead_letters_join_in
from headwater.plan.nodes import FileSink, Observe, TableStoreSink, TopicSink
from headwater.plan.python_function import PythonFunction
from headwater.spark.compiler.aside import dead_letters, late_records
from headwater.spark.compiler.fusion import fused
from headwater.spark.compiler.outputs import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from headwater.plan.nodes import Sink
    from headwater.plan.stages import OutputMode, Stage
    from headwater.spark.compiler.nodes import NodeCompiler

Target = Literal["topics", "files", "table", "print", "calls"]


@dataclass(frozen=True)
class StageQuery:
    """One query.

    `name` is unique in its program and stays, so that the query finds its checkpoint. `detail` is
    the path of files, the name of a table, or the label of what is printed.
    """

    name: str
    rows: DataFrame
    mode: OutputMode
    target: Target
    detail: str = ""
    may_be_real_time: bool = False


def compile_stage(stage: Stage, compiler: NodeCompiler) -> tuple[StageQuery, ...]:
    """Return the queries of a stage: one, unless its sinks cannot share one."""
    encoder = Encoder(compiler.spark, compiler.schemas)
    topics, broken = _with_dead_letters(
        stage, compiler, [*_topic_queries(stage, compiler, encoder)]
    )
    return (
        *topics,
        *(
            _other_query(f"{stage.name}-{sink.id}", stage, sink, compiler)
            for sink in stage.sinks
            if not isinstance(sink, TopicSink)
        ),
        *(
            StageQuery(f"{stage.name}-{name}", rows, "update", "topics")
            for name, rows in (*broken, *late_records(stage, compiler, encoder))
        ),
    )


def _with_dead_letters(
    stage: Stage, compiler: NodeCompiler, topics: list[StageQuery]
) -> tuple[list[StageQuery], list[tuple[str, DataFrame]]]:
    """Let a single query write what is broken as well, and return what has to be one of its own.

    A query costs far more than reading a topic a second time within one. In real-time mode it is
    the other way round: there, each reading holds task slots.
    """
    broken = [*dead_letters(stage, compiler)]
    if not dead_letters_join_in(stage) or stage.plan.settings.guarantee == "at_least_once":
        return topics, broken
    rows = topics[0].rows
    for _, each in broken:
        rows = rows.unionByName(each)
    return [replace(topics[0], rows=rows)], []


def _topic_queries(stage: Stage, compiler: NodeCompiler, encoder: Encoder) -> Iterator[StageQuery]:
    sinks = [sink for sink in stage.sinks if isinstance(sink, TopicSink)]
    real_time = _may_be_real_time(stage)
    together = fused(sinks, compiler, encoder)
    if together is not None:
        yield StageQuery(stage.name, together, stage.mode, "topics", may_be_real_time=real_time)
        return
    for sink in sinks:
        rows = encoder.encoded(sink, compiler.rows(sink))
        name = stage.name if len(sinks) == 1 else f"{stage.name}-{sink.id}"
        yield StageQuery(name, rows, stage.mode, "topics", may_be_real_time=real_time)


def _other_query(name: str, stage: Stage, sink: Sink, compiler: NodeCompiler) -> StageQuery:
    match sink:
        case FileSink():
            rows = compiler.rows(sink)
            if sink.format != "parquet":
                raise PlanError(f"files are Parquet, not {sink.format}", sink.location)
            return StageQuery(name, rows, "append", "files", sink.path)
        case TableStoreSink():
            rows = compiler.rows(sink).repartition("key")
            return StageQuery(name, rows, stage.mode, "table", sink.store)
        case Observe(kind="print"):
            rows = compiler.rows(sink.parents[0])
            return StageQuery(name, rows, stage.mode, "print", sink.label)
        case Observe():
            return StageQuery(name, compiler.rows(sink), stage.mode, "calls")
    raise AssertionError(f"{type(sink).__name__} is written in a query of its own kind")


def _may_be_real_time(stage: Stage) -> bool:
    """Tell whether Spark runs the stage in real-time mode.

    It does so without Python and in update mode; of stateful operators, ours run there. Windows do
    as well, but their time would stand still for the length of a real-time batch.
    """
    from headwater.plan.stages import runs_in_processor

    nodes = [*stage.plan.walk()]
    kinds = {getattr(part, "kind", None) for node in nodes for part in vars(node).values()}
    return (
        stage.mode == "update"
        and all(runs_in_processor(node) for node in stage.stateful)
        and not any(getattr(node, "window", None) for node in stage.stateful)
        and not any(isinstance(each, PythonFunction) for node in nodes for each in node.operands)
        and "protobuf" not in kinds
    )
