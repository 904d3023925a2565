"""The picture of a plan in words, in the form in which Kafka Streams prints topologies.

A sub-topology is a stage, that is one Spark query. The same model is drawn by `mermaid` and `svg`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never

from headwater.plan.nodes import (
    Aggregate,
    Changes,
    ForEachSink,
    ForeignKeyJoin,
    Operator,
    PrintSink,
    Process,
    Sink,
    Source,
    Stateful,
    Stateless,
    StreamStreamJoin,
    StreamTableJoin,
    Suppress,
    Table,
    TableAggregate,
    TableTableJoin,
    TopicSink,
    TopicSource,
)
from headwater.plan.pictures.summaries import summary
from headwater.plan.splitting.roads import why_micro_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.splitting.stages import Stage


@dataclass(frozen=True)
class Entry:
    """An operator in a picture."""

    kind: Literal["Source", "Processor", "Sink"]
    id: str
    summary: str
    topics: tuple[str, ...]
    internal: bool
    stores: tuple[str, ...]
    repartitions: bool
    predecessors: tuple[str, ...]
    successors: tuple[str, ...]


@dataclass(frozen=True)
class SubTopology:
    """The operators of one stage."""

    stage: Stage
    entries: tuple[Entry, ...]


def topology(stages: Sequence[Stage]) -> tuple[SubTopology, ...]:
    """Return what there is to draw."""
    return tuple(SubTopology(stage, _entries(stage)) for stage in stages)


def describe(stages: Sequence[Stage]) -> str:
    """Return the topology as text."""
    lines = ["Topologies:"]
    for number, part in enumerate(topology(stages)):
        why = why_micro_batches(part.stage, part.stage.plan.settings)
        road = "real-time mode" if why is None else f"micro-batches ({why})"
        lines.append(f"   Sub-topology: {number} in {road}")
        for entry in part.entries:
            lines += _lines(entry)
        lines.append("")
    return "\n".join(lines)


def _lines(entry: Entry) -> list[str]:
    if entry.kind == "Processor":
        detail = f"(stores: [{', '.join(entry.stores)}])"
    elif entry.kind == "Source":
        is_topic = bool(entry.topics)
        detail = f"(topics: [{', '.join(entry.topics)}])" if is_topic else f"({entry.summary})"
    else:
        detail = f"(topic: {entry.topics[0]})" if entry.topics else f"({entry.summary})"
    lines = [f"    {entry.kind}: {entry.id} {detail}"]
    if entry.kind != "Sink":
        lines.append(f"      --> {', '.join(entry.successors) or 'none'}")
    if entry.kind != "Source":
        lines.append(f"      <-- {', '.join(entry.predecessors) or 'none'}")
    return lines


def _entries(stage: Stage) -> tuple[Entry, ...]:
    nodes = list(stage.plan.walk())
    successors: dict[str, list[str]] = {node.id: [] for node in nodes}
    for node in nodes:
        for parent in node.parents:
            successors[parent.id].append(node.id)
    return tuple(_entry(node, tuple(dict.fromkeys(successors[node.id]))) for node in nodes)


def _entry(node: Operator, successors: tuple[str, ...]) -> Entry:
    return Entry(
        kind=_kind(node),
        id=node.id,
        summary=summary(node),
        topics=_topics(node),
        internal=isinstance(node, TopicSource | TopicSink) and node.internal,
        stores=_stores(node),
        repartitions=_repartitions(node),
        predecessors=tuple(dict.fromkeys(parent.id for parent in node.parents)),
        successors=successors,
    )


def _repartitions(node: Operator) -> bool:
    if isinstance(node, Stateful) and node.regroups:
        return True
    return isinstance(node, Stateful | Table) and any(
        parent.needs_repartition for parent in node.parents
    )


def _kind(node: Operator) -> Literal["Source", "Processor", "Sink"]:
    match node:
        case Source():
            return "Source"
        case PrintSink() | ForEachSink():
            return "Processor"  # as in Kafka Streams
        case Sink():
            return "Sink"
        case Stateless() | Stateful():
            return "Processor"
        case _:
            assert_never(node)


def _topics(node: Operator) -> tuple[str, ...]:
    if isinstance(node, TopicSource):
        return node.topics
    return (str(node.topic),) if isinstance(node, TopicSink) else ()


def _stores(node: Operator) -> tuple[str, ...]:
    """Return state stores under the names that Kafka Streams would give them."""
    head, _, number = node.id.rpartition("-")
    match node:
        case Aggregate() | Changes() | Table() | TableAggregate() | TableTableJoin() | Suppress():
            return (node.name or f"{head}-STATE-STORE-{number}",)
        case ForeignKeyJoin():
            return (f"{node.name or node.id}-subscription-store",)
        case StreamTableJoin():
            return (node.name or f"{head}-TABLE-STORE-{number}",)
        case Process():
            return tuple(store.name for store in node.stores)
        case StreamStreamJoin():
            name = node.name or node.id
            return (f"{name}-this-store", f"{name}-other-store")
        case Source() | Sink() | Stateless():
            return ()
        case _:
            assert_never(node)
