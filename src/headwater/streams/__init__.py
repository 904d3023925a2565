"""Stream processing in the words of Kafka Streams, run by Spark.

A program is built from an `App`; building it checks it and needs neither Spark nor a broker.
"""

from headwater.plan.errors import ExpressionError, PlanError
from headwater.plan.expressions import functions
from headwater.plan.expressions.functions import (
    attr,
    avg,
    call,
    col,
    collect_list,
    collect_set,
    correlation,
    count,
    count_distinct,
    earliest_by_offset,
    expr,
    histogram,
    latest_by_offset,
    lit,
    max,  # noqa: A004 - Spark's names
    min,  # noqa: A004
    stddev_samp,
    stddev_sample,
    struct,
    sum,  # noqa: A004
    topk,
    topkdistinct,
    when,
)
from headwater.plan.processing.processor import (
    ListStore,
    MapStore,
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    ValueStore,
)
from headwater.streams.app import App
from headwater.streams.cogrouped import CogroupedKStream
from headwater.streams.grouped import KGroupedStream
from headwater.streams.grouped_table import KGroupedTable
from headwater.streams.kstream import KStream
from headwater.streams.ktable import GlobalKTable, KTable
from headwater.streams.state_stores import list_store, map_store, value_store
from headwater.streams.suppression import Suppressed, until_time_limit
from headwater.streams.topology import Topology
from headwater.streams.windows import (
    JoinWindow,
    TimeWindow,
    between,
    hopping,
    session,
    sliding,
    tumbling,
    within,
)

__all__ = [
    "App",
    "CogroupedKStream",
    "ExpressionError",
    "GlobalKTable",
    "JoinWindow",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "ListStore",
    "MapStore",
    "PlanError",
    "Processor",
    "ProcessorContext",
    "PunctuationType",
    "Record",
    "Suppressed",
    "TimeWindow",
    "Topology",
    "ValueStore",
    "attr",
    "avg",
    "between",
    "call",
    "col",
    "collect_list",
    "collect_set",
    "correlation",
    "count",
    "count_distinct",
    "earliest_by_offset",
    "expr",
    "functions",
    "histogram",
    "hopping",
    "latest_by_offset",
    "list_store",
    "lit",
    "map_store",
    "max",
    "min",
    "session",
    "sliding",
    "stddev_samp",
    "stddev_sample",
    "struct",
    "sum",
    "topk",
    "topkdistinct",
    "tumbling",
    "until_time_limit",
    "value_store",
    "when",
    "within",
]
