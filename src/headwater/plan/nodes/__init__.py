"""The operators of a plan, each with its inputs, the type of its rows and its place in the program.

Nodes are plain data and compared by identity; a plan is the graph of their `parents`. `Operator` is
all of them: whoever looks at what an operator is does so with a `match` that ends in
`assert_never`, so that a new one which was forgotten there is a type error. Sources and sinks are
open: what is to be known of them, they say themselves.
"""

from __future__ import annotations

from typing import TypeAlias

from headwater.plan.nodes.foreign_key_join import ForeignKeyJoin
from headwater.plan.nodes.node import ChangelogMode, Node, Operand
from headwater.plan.nodes.process import Process
from headwater.plan.nodes.sinks import (
    FileSink,
    ForEachSink,
    PrintSink,
    Sink,
    StoreSink,
    TopicSink,
)
from headwater.plan.nodes.sources import (
    OnMalformed,
    ProcessingLogger,
    Source,
    SourceKind,
    Start,
    TopicSource,
)
from headwater.plan.nodes.stateful import (
    Aggregate,
    Changes,
    Emit,
    JoinKind,
    Stateful,
    StreamStreamJoin,
    StreamTableJoin,
    TableAggregate,
    TableTableJoin,
)
from headwater.plan.nodes.stateless import (
    Branch,
    Filter,
    FlatMap,
    Map,
    Merge,
    Peek,
    Repartition,
    Split,
    Stateless,
    Table,
    TableFilter,
    ToStream,
)
from headwater.plan.nodes.suppress import Buffer, Suppress, WhenFull

StatelessOperator: TypeAlias = (
    Filter
    | Split
    | Branch
    | Map
    | Peek
    | FlatMap
    | Merge
    | Repartition
    | Table
    | TableFilter
    | ToStream
)
StatefulOperator: TypeAlias = (
    Aggregate
    | Changes
    | TableAggregate
    | StreamTableJoin
    | TableTableJoin
    | ForeignKeyJoin
    | StreamStreamJoin
    | Suppress
    | Process
)
Operator: TypeAlias = Source | StatelessOperator | StatefulOperator | Sink

__all__ = [
    "Aggregate",
    "Branch",
    "Buffer",
    "ChangelogMode",
    "Changes",
    "Emit",
    "FileSink",
    "Filter",
    "FlatMap",
    "ForEachSink",
    "ForeignKeyJoin",
    "JoinKind",
    "Map",
    "Merge",
    "Node",
    "OnMalformed",
    "Operand",
    "Operator",
    "Peek",
    "PrintSink",
    "Process",
    "ProcessingLogger",
    "Repartition",
    "Sink",
    "Source",
    "SourceKind",
    "Split",
    "Start",
    "Stateful",
    "StatefulOperator",
    "Stateless",
    "StatelessOperator",
    "StoreSink",
    "StreamStreamJoin",
    "StreamTableJoin",
    "Suppress",
    "Table",
    "TableAggregate",
    "TableFilter",
    "TableTableJoin",
    "ToStream",
    "TopicSink",
    "TopicSource",
    "WhenFull",
]
