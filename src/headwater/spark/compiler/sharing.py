"""Which sinks behind one input can be one query: where one record stays at most one on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.processing.folding import Foldable, folded_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.nodes import Operator, TopicSink


def folded_path(sink: TopicSink) -> tuple[Operator, list[Foldable]]:
    """Return the foldable operators that lead to a sink, and what they start from."""
    return folded_path_of(sink.parents[0])


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


def _whole_path(sink: TopicSink) -> list[Operator]:
    start, path = folded_path(sink)
    return [start, *path]
