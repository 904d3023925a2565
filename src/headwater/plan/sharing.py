"""Which sinks behind one input can be one query: where one record stays at most one on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.nodes import Branch, Filter, Map, Observe, Split, Table, ToStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.nodes import Node, TopicSink


def foldable_path(sink: TopicSink) -> list[Node]:
    """Return the foldable operators that lead to a sink, and before them what they start from."""
    path = [sink.parents[0]]
    while _is_foldable(path[0]):
        path.insert(0, path[0].parents[0])
    return path


def shared_path(sinks: Sequence[TopicSink]) -> list[Node]:
    """Return what the sinks' paths have in common from their start on; empty where nothing is."""
    shared: list[Node] = []
    for nodes in zip(*(foldable_path(sink) for sink in sinks), strict=False):
        if any(node is not nodes[0] for node in nodes):
            break
        shared.append(nodes[0])
    return shared


def queries_of(sinks: Sequence[TopicSink]) -> list[tuple[TopicSink, ...]]:
    """Return the sinks of each query that a stage's topics need: all in one, or each its own."""
    return [tuple(sinks)] if sinks and shared_path(sinks) else [(sink,) for sink in sinks]


def _is_foldable(node: Node) -> bool:
    return isinstance(node, Filter | Split | Branch | Map | Observe | Table | ToStream)
