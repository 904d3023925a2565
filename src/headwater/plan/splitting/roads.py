"""Which road a stage takes through Spark: real-time mode, or micro-batches, and why those."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.graph import walk
from headwater.plan.nodes import (
    Aggregate,
    Changes,
    ForeignKeyJoin,
    Process,
    Sink,
    Source,
    Stateful,
    Stateless,
    StreamStreamJoin,
    StreamTableJoin,
    Suppress,
    TableAggregate,
    TableTableJoin,
    TopicSink,
    TopicSource,
)
from headwater.plan.processing.folding import joined_with_itself

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.plan.plan import ProgramSettings
    from headwater.plan.splitting.stages import Stage

REAL_TIME = "spark.headwater.realTime"
"""Switches real-time mode off, or on where it is not taken by itself."""


def why_micro_batches(stage: Stage, settings: ProgramSettings) -> str | None:
    """Return why a stage does not run in real-time mode; None where it does."""
    cannot = why_not_real_time(stage)
    asked = settings.spark.get(REAL_TIME)
    if cannot is not None:
        return cannot
    if settings.guarantee != "at_least_once":
        return f"{settings.guarantee} commits batch by batch"
    if asked is not None:
        return None if asked == "true" else f"{REAL_TIME}={asked}"
    if any(isinstance(node, StreamTableJoin) for node in stage.stateful):
        return f"a record is to meet what the table had before it, unless {REAL_TIME}=true"
    return None


def why_not_real_time(stage: Stage) -> str | None:
    """Return what keeps Spark from running a stage in real-time mode, if anything does.

    It does so without Python and in update mode; of stateful operators, ours run there. Several
    inputs become one before all state, or not at all, and no two of them are the same.
    """
    nodes = [*stage.plan.walk()]
    for node in nodes:
        reason = _why_not(node)
        if reason is not None:
            return f"{node.id}: {reason}"
    if stage.only_adds:
        return "its sinks take what is final alone"
    for node in nodes:
        if len(node.parents) > 1 and any(isinstance(each, Stateful) for each in walk(node.parents)):
            return f"{node.id}: one of its inputs comes from another operator with state"
    for sink in stage.sinks:
        ways = _ways(sink)
        for source in stage.sources:
            if ways[id(source)] > 1:
                return f"{source.id}: read twice, by operators that need it at once"
    return None


def _ways(sink: Sink) -> Counter[int]:
    """Return on how many ways each operator reaches a sink, by its identity.

    A join of a stream with itself reads once what both sides are made of.
    """
    found: Counter[int] = Counter({id(sink): 1})
    for node in reversed([*walk((sink,))]):
        start = joined_with_itself(node) if isinstance(node, StreamStreamJoin) else None
        for parent in node.parents if start is None else (start,):
            found[id(parent)] += found[id(node)]
    return found


def _why_not(node: Operator) -> str | None:
    if any(isinstance(each, PythonFunction) for each in node.operands):
        return "a function in Python"
    match node:
        case TopicSource() | TopicSink():
            is_python = "protobuf" in (node.key_format.kind, node.value_format.kind)
            return "Protobuf is read and written by Python" if is_python else None
        case Source():
            return "what it reads is no topic"
        case Sink() | Stateless():
            return None
        case Changes() | TableAggregate():
            return None
        case StreamTableJoin() | TableTableJoin() | ForeignKeyJoin() | StreamStreamJoin():
            return None
        case Aggregate():
            if node.waits:
                return "windows close when a batch ends"
            own = node.in_arrival_order
            return None if own else "an aggregate with one result for each batch"
        case Suppress():
            # Each row would read the whole buffer, which a micro-batch reads once.
            return "suppress reads its buffer once for each batch"
        case Process():
            return "a processor in Python"
        case _:
            assert_never(node)
