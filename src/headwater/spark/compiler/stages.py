"""Stages become queries: what to read and compute, in which mode, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from headwater.plan.nodes import StoreSink, TopicSink
from headwater.plan.splitting.roads import why_not_real_time
from headwater.spark.compiler.aside import dead_letters, late_records
from headwater.spark.compiler.fusion import fused
from headwater.spark.compiler.nodes import refused_by_spark
from headwater.spark.compiler.output_modes import output_mode
from headwater.spark.guarantees import dead_letters_join_in
from headwater.spark.sinks.registry import writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from headwater.plan.nodes import Sink
    from headwater.plan.splitting.stages import Stage
    from headwater.spark.compiler.aside import Aside
    from headwater.spark.compiler.nodes import NodeCompiler
    from headwater.spark.compiler.output_modes import OutputMode


@dataclass(frozen=True)
class StageQuery:
    """One query.

    `name` is unique in its program and stays, so that the query finds its checkpoint. `sink` says
    where it writes; of several topics that share a query, it is the first.
    """

    name: str
    rows: DataFrame
    mode: OutputMode
    sink: Sink
    may_be_real_time: bool = False
    stores: tuple[StoreSink, ...] = ()
    """Those among its sinks that stores follow."""


def compile_stage(stage: Stage, compiler: NodeCompiler) -> tuple[StageQuery, ...]:
    """Return the queries of a stage: one, unless its sinks cannot share one."""
    topics, malformed = _with_dead_letters(stage, compiler, [*_topic_queries(stage, compiler)])
    return (
        *topics,
        *(
            _query(f"{stage.name}-{sink.id}", stage, sink, compiler)
            for sink in stage.sinks
            if not isinstance(sink, TopicSink)
        ),
        *(
            StageQuery(f"{stage.name}-{aside.name}", aside.rows, "update", aside.sink)
            for aside in (*malformed, *late_records(stage, compiler))
        ),
    )


def _with_dead_letters(
    stage: Stage, compiler: NodeCompiler, topics: list[StageQuery]
) -> tuple[list[StageQuery], list[Aside]]:
    """Let a single query write what is malformed as well, and return what has to be one of its own.

    A query costs far more than reading a topic a second time within one. In real-time mode it is
    the other way round: there, each reading holds task slots.
    """
    malformed = [*dead_letters(stage, compiler)]
    if not dead_letters_join_in(stage) or stage.plan.settings.guarantee == "at_least_once":
        return topics, malformed
    rows = topics[0].rows
    for aside in malformed:
        rows = rows.unionByName(aside.rows)
    return [replace(topics[0], rows=rows)], []


def _topic_queries(stage: Stage, compiler: NodeCompiler) -> Iterator[StageQuery]:
    sinks = [sink for sink in stage.sinks if isinstance(sink, TopicSink)]
    real_time = why_not_real_time(stage) is None
    together = fused(sinks, compiler)
    if together is not None:
        stores = _stores(sinks)
        yield StageQuery(stage.name, together, output_mode(stage), sinks[0], real_time, stores)
        return
    for sink in sinks:
        name = stage.name if len(sinks) == 1 else f"{stage.name}-{sink.id}"
        query = _query(name, stage, sink, compiler)
        yield replace(query, may_be_real_time=real_time, stores=_stores([sink]))


def _stores(sinks: Sequence[Sink]) -> tuple[StoreSink, ...]:
    return tuple(sink for sink in sinks if isinstance(sink, StoreSink))


def _query(name: str, stage: Stage, sink: Sink, compiler: NodeCompiler) -> StageQuery:
    writer = writer_of(sink)
    try:
        rows = writer.rows(sink, compiler)
    except AnalysisException as refusal:
        raise refused_by_spark(refusal, sink.location) from refusal
    return StageQuery(name, rows, writer.mode(output_mode(stage)), sink)
