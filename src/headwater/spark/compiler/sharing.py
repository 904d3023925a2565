"""Which sinks behind one input can be one query: where one record stays at most one on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from headwater.plan.nodes import (
    Branch,
    Filter,
    FlatMap,
    Map,
    Merge,
    Peek,
    Repartition,
    Sink,
    Source,
    Split,
    Stateful,
    Table,
    TableFilter,
    ToStream,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.nodes import Operator, TopicSink

Foldable: TypeAlias = Filter | Split | Branch | Map | Peek | Table | ToStream
"""Operators that make at most one record of one, without state."""


def folded_path(sink: TopicSink) -> tuple[Operator, list[Foldable]]:
    """Return the foldable operators that lead to a sink, and what they start from."""
    path: list[Foldable] = []
    start: Operator = sink.parents[0]
    while (foldable := as_foldable(start)) is not None:
        path.insert(0, foldable)
        start = foldable.parents[0]
    return start, path


def shared_path(sinks: Sequence[TopicSink]) -> list[Operator]:
    """Return what the sinks' paths have in common from their start on; empty where nothing is."""
    shared: list[Operator] = []
    for nodes in zip(*(_whole_path(sink) for sink in sinks), strict=False):
        if any(node is not nodes[0] for node in nodes):
            break
        shared.append(nodes[0])
    return shared


def queries_of(sinks: Sequence[TopicSink]) -> list[tuple[TopicSink, ...]]:
    """Return the sinks of each query that a stage's topics need: all in one, or each its own."""
    return [tuple(sinks)] if sinks and shared_path(sinks) else [(sink,) for sink in sinks]


def as_foldable(node: Operator) -> Foldable | None:
    """Return the operator if it can be folded into a query with several sinks."""
    match node:
        case Filter() | Split() | Branch() | Map() | Peek() | Table() | ToStream():
            return node
        case Source() | Sink() | Stateful() | FlatMap() | Merge() | Repartition() | TableFilter():
            return None
        case _:
            assert_never(node)


def _whole_path(sink: TopicSink) -> list[Operator]:
    start, path = folded_path(sink)
    return [start, *path]
