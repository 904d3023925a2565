"""Which stages Spark can run in real-time mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

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
from headwater.plan.python_function import PythonFunction
from headwater.spark.compiler.output_modes import output_mode

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.plan.stages import Stage


def may_be_real_time(stage: Stage) -> bool:
    """Tell whether Spark runs the stage in real-time mode.

    It does so without Python and in update mode; of stateful operators, ours run there. Several
    inputs become one before all state, or not at all.
    """
    nodes = [*stage.plan.walk()]
    return (
        output_mode(stage) == "update"
        and all(_may_be(each) for each in nodes)
        and not any(
            isinstance(above, Stateful)
            for node in nodes
            if len(node.parents) > 1
            for above in walk(node.parents)
        )
    )


def _may_be(node: Operator) -> bool:
    if any(isinstance(each, PythonFunction) for each in node.operands):
        return False
    match node:
        case TopicSource() | TopicSink():
            # Protobuf is decoded and encoded by Python.
            return "protobuf" not in (node.key_format.kind, node.value_format.kind)
        case Source():
            return False
        case Sink() | Stateless():
            return True
        case Changes() | TableAggregate():
            return True
        case StreamTableJoin() | TableTableJoin() | ForeignKeyJoin() | StreamStreamJoin():
            return True
        case Aggregate():
            return node.in_arrival_order
        case Suppress():
            # Each row would read the whole buffer, which a micro-batch reads once.
            return False
        case Process():
            return False
        case _:
            assert_never(node)
