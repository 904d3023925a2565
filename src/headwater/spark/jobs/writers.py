"""Starts queries: a sink, a trigger and a checkpoint for each."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.types import backticked
from headwater.spark.jobs.modes import trigger_of
from headwater.spark.sinks import ParquetFiles, Sink, TableStoreSink, topic_sink

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from headwater.plan.plan import Settings
    from headwater.spark.compiler.stages import StageQuery
    from headwater.spark.jobs.modes import Mode
    from headwater.spark.sinks.topic import MissingMarkers


@dataclass(frozen=True)
class Writers:
    """Starts the queries of one program."""

    app: str
    settings: Settings
    tables: Path

    def start(
        self,
        query: StageQuery,
        checkpoint: Path,
        mode: Mode,
        missing_markers: MissingMarkers = "fail",
    ) -> StreamingQuery:
        """Start a query from its checkpoint."""
        writer: Any = self._with_sink(query, missing_markers).queryName(f"{self.app}: {query.name}")
        writer = writer.outputMode(query.mode).option("checkpointLocation", str(checkpoint))
        started: StreamingQuery = writer.trigger(**trigger_of(mode, self.settings)).start()
        return started

    def _with_sink(self, query: StageQuery, missing_markers: MissingMarkers) -> Any:
        if query.target == "print":
            return query.rows.writeStream.foreachBatch(_printing(query.detail))
        if query.target == "calls":
            return query.rows.writeStream.format("noop")
        return self._sink(query, missing_markers).stream(query.rows)

    def _sink(self, query: StageQuery, missing_markers: MissingMarkers) -> Sink:
        if query.target == "files":
            return ParquetFiles(query.detail)
        if query.target == "table":
            self.tables.mkdir(parents=True, exist_ok=True)
            return TableStoreSink(self.tables / f"{query.detail}.db")
        return topic_sink(
            None,
            servers=self.settings.cluster.bootstrap_servers,
            guarantee=self.settings.guarantee,
            query=f"{self.app}-{query.name}",
            client=self.settings.cluster.java(),
            missing_markers=missing_markers,
        )


def _printing(label: str) -> Any:
    def show(rows: DataFrame, _: int) -> None:
        texts = rows.select(*(_as_text(rows, name) for name in ("key", "value")))
        for key, value in texts.toLocalIterator():
            print(f"[{label}]: {key}, {value}", flush=True, file=sys.stdout)  # noqa: T201

    return show


def _as_text(rows: DataFrame, name: str) -> Any:
    from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

    nested = rows.schema[name].dataType.typeName() in ("struct", "array", "map")
    column = F.col(backticked(name))
    return (F.to_json(column) if nested else column.cast("string")).alias(name)
