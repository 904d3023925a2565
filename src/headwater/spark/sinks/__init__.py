"""Where results go: topics with two guarantees, Parquet files, and tables for look-ups.

>>> sink = topic_sink("alerts", servers="localhost:9092", guarantee="exactly_once", query="plant")
>>> query = sink.stream(alerts).option("checkpointLocation", checkpoint).start()  # doctest: +SKIP
"""

from headwater.spark.sinks.parquet import ParquetFiles
from headwater.spark.sinks.sink import Sink
from headwater.spark.sinks.table import TableStoreSink
from headwater.spark.sinks.table_store import TableStore
from headwater.spark.sinks.topic import AtLeastOnceTopic, ExactlyOnceTopic, Guarantee, topic_sink

__all__ = [
    "AtLeastOnceTopic",
    "ExactlyOnceTopic",
    "Guarantee",
    "ParquetFiles",
    "Sink",
    "TableStore",
    "TableStoreSink",
    "topic_sink",
]
