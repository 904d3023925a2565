"""Operators that make at most one record of one, so that several of them are columns of one row."""

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
    from headwater.plan.nodes import Operator, StreamStreamJoin

Foldable: TypeAlias = Filter | Split | Branch | Map | Peek | Table | ToStream
"""Operators that make at most one record of one, without state."""


def folded_path_of(node: Operator) -> tuple[Operator, list[Foldable]]:
    """Return the foldable operators that lead up to this one, and what they start from."""
    path: list[Foldable] = []
    start = node
    while (foldable := as_foldable(start)) is not None:
        path.insert(0, foldable)
        start = foldable.parents[0]
    return start, path


def joined_with_itself(node: StreamStreamJoin) -> Operator | None:
    """Return what both sides of a join are made of, if a row of that can be one of each side."""
    left, right = (folded_path_of(parent)[0] for parent in node.parents)
    return left if left is right else None


def as_foldable(node: Operator) -> Foldable | None:
    """Return the operator if it can be folded into a query with several sinks."""
    match node:
        case Filter() | Split() | Branch() | Map() | Peek() | Table() | ToStream():
            return node
        case Source() | Sink() | Stateful() | FlatMap() | Merge() | Repartition() | TableFilter():
            return None
        case _:
            assert_never(node)
