"""An operator in a few words, for pictures and error messages."""

from __future__ import annotations

from headwater.plan.nodes import (
    Aggregate,
    Branch,
    FileSink,
    Filter,
    FlatMap,
    Map,
    Merge,
    Node,
    Observe,
    Operand,
    Repartition,
    Split,
    StreamStreamJoin,
    StreamTableJoin,
    Table,
    TableStoreSink,
    TopicSink,
    TopicSource,
    ToStream,
)
from headwater.plan.python_function import PythonFunction
from headwater.plan.windows import duration_text


def summary(node: Node) -> str:
    """Return what the operator does."""
    match node:
        case TopicSource():
            return f"{node.kind.replace('_', ' ')} of {', '.join(node.topics)}"
        case Filter():
            return f"keep {_text(node.predicate)}"
        case Split():
            return f"first of {', '.join(map(_text, node.conditions))}"
        case Branch(index=index, split=Split(conditions=conditions)):
            return f"keep {_text(conditions[index])}" if index < len(conditions) else "keep others"
        case Map():
            return _map(node)
        case FlatMap():
            return f"each of {_text(node.items)}"
        case Merge():
            return "merge"
        case Observe():
            return node.kind if node.function is None else f"{node.kind} {node.function.name}"
        case Repartition():
            count = "" if node.partitions is None else f" into {node.partitions}"
            return f"repartition by key{count}"
        case Table():
            return "table: the latest value of each key"
        case ToStream():
            return "changes as a stream"
    return _stateful_or_sink(node)


def _stateful_or_sink(node: Node) -> str:
    match node:
        case Aggregate():
            by = "key" if node.by is None else _text(node.by)
            results = ", ".join(f"{name} = {each}" for name, each in node.aggregations)
            window = "" if node.window is None else f", {node.window}"
            return f"{results} by {by}{window}"
        case StreamTableJoin():
            on = "key" if node.key is None else _text(node.key)
            return f"{node.kind} join with the table on {on}"
        case StreamStreamJoin():
            before, after = duration_text(node.before_ms), duration_text(node.after_ms)
            return f"{node.kind} join, -{before} to +{after}"
        case TopicSink():
            return f"to {node.topic}"
        case FileSink():
            return f"{node.format} files in {node.path}"
        case TableStoreSink():
            return f"store {node.store}"
    return type(node).__name__


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
