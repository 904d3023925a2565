"""An operator in a few words, for pictures and error messages."""

from __future__ import annotations

from typing import assert_never

from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.nodes import (
    Aggregate,
    Branch,
    Changes,
    Filter,
    FlatMap,
    ForeignKeyJoin,
    Map,
    Merge,
    Operand,
    Operator,
    Peek,
    Process,
    Repartition,
    Sink,
    Source,
    Split,
    Stateful,
    StatefulOperator,
    Stateless,
    StatelessOperator,
    StreamStreamJoin,
    StreamTableJoin,
    Suppress,
    Table,
    TableAggregate,
    TableFilter,
    TableTableJoin,
    ToStream,
)
from headwater.plan.windows import duration_text


def summary(node: Operator) -> str:
    """Return what the operator does."""
    match node:
        case Source() | Sink():
            return node.summary
        case Stateless():
            return _stateless(node)
        case Stateful():
            return _stateful(node)
        case _:
            assert_never(node)


def _stateless(node: StatelessOperator) -> str:
    match node:
        case Filter():
            return f"keep {_text(node.predicate)}"
        case Split():
            return f"first of {', '.join(map(_text, node.conditions))}"
        case Branch():
            return _branch(node)
        case Map():
            return _map(node)
        case FlatMap():
            return f"each of {_text(node.items)}"
        case Merge():
            return "merge"
        case Peek():
            return f"peek {node.function.name}"
        case Repartition():
            count = "" if node.partitions is None else f" into {node.partitions}"
            return f"repartition by key{count}"
        case Table():
            return "table: the latest value of each key"
        case TableFilter():
            return f"rows where {_text(node.predicate)}"
        case ToStream():
            return "changes as a stream"
        case _:
            assert_never(node)


def _stateful(node: StatefulOperator) -> str:
    match node:
        case Aggregate():
            by = "key" if node.by is None else _text(node.by)
            results = ", ".join(f"{name} = {each}" for name, each in node.aggregations)
            window = "" if node.window is None else f", {node.window}"
            return f"{results} by {by}{window}"
        case Changes():
            return "changes with the values that they replace"
        case TableAggregate():
            results = ", ".join(f"{name} = {each}" for name, each in node.aggregations)
            return f"{results} by {_text(node.by)}, taken back when a row changes"
        case StreamTableJoin():
            on = "key" if node.key is None else _text(node.key)
            return f"{node.kind} join with the table on {on}"
        case ForeignKeyJoin():
            return f"{node.kind} join of the tables on {_text(node.foreign_key)}"
        case TableTableJoin():
            return f"{node.kind} join of the tables"
        case Suppress():
            return f"hold updates back, {node.buffer}"
        case Process():
            return f"process with {node.processor_name}"
        case StreamStreamJoin():
            before, after = duration_text(node.before_ms), duration_text(node.after_ms)
            return f"{node.kind} join, -{before} to +{after}"
        case _:
            assert_never(node)


def _branch(node: Branch) -> str:
    conditions = node.split.conditions
    is_last = node.index == len(conditions)
    return "keep others" if is_last else f"keep {_text(conditions[node.index])}"


def _map(node: Map) -> str:
    if node.pair is not None:
        return f"key and value = {_text(node.pair)}"
    parts = [
        f"{name} = {_text(operand)}"
        for name, operand in (("key", node.key), ("value", node.value))
        if operand is not None
    ]
    return ", ".join(parts)


def _text(operand: Operand) -> str:
    return f"{operand.name}()" if isinstance(operand, PythonFunction) else str(operand)
