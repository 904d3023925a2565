"""Stream processing in the words of Kafka Streams, run by Spark.

A program is built from an `App`; building it checks it and needs neither Spark nor a broker.
"""

from headwater.plan import functions
from headwater.plan.errors import ExpressionError, PlanError
from headwater.plan.functions import (
    avg,
    call,
    col,
    count,
    expr,
    lit,
    max,  # noqa: A004 - Spark's names
    min,  # noqa: A004
    struct,
    sum,  # noqa: A004
    when,
)
from headwater.streams.app import App
from headwater.streams.cogrouped import CogroupedKStream
from headwater.streams.grouped import KGroupedStream
from headwater.streams.grouped_table import KGroupedTable
from headwater.streams.kstream import KStream
from headwater.streams.ktable import GlobalKTable, KTable
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
    "PlanError",
    "TimeWindow",
    "avg",
    "between",
    "call",
    "col",
    "count",
    "expr",
    "functions",
    "hopping",
    "lit",
    "max",
    "min",
    "session",
    "sliding",
    "struct",
    "sum",
    "tumbling",
    "when",
    "within",
]
