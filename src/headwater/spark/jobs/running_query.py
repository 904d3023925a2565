"""One query of a job: how it was started, what Spark reports of it, and when to try again."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.plan.nodes import TopicSink
from headwater.spark.jobs.back_off import BackOff
from headwater.spark.jobs.progress import QueryProgress, is_of_batch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

    from headwater.plan.splitting.stages import Stage
    from headwater.spark.compiler.stages import StageQuery
    from headwater.spark.jobs.modes import Mode


class RunningQuery:
    """A query and what is known of it."""

    def __init__(self, stage: Stage, query: StageQuery) -> None:
        self.stage = stage
        self.query = query
        self.spark_query: StreamingQuery | None = None
        self.progress = QueryProgress(query.name, stage=stage.name)
        self.stage_topics = frozenset(
            sink.topic
            for sink in stage.sinks
            if isinstance(sink, TopicSink) and isinstance(sink.topic, str)
        )
        self.mode: Mode | None = None
        """How it was started the last time; None before the first."""
        self.started = self.lasted_s = 0.0
        self.changed = time.monotonic()
        """When something new was known of it."""
        self.back_off = BackOff()
        self.restart_at: float | None = None
        self.done = False
        self._run = ""
        self._awaited = 0
        """The batch of this run that was not reported yet."""
        self._reported = ""
        """When the last report was made, as Spark writes it."""

    def update(self, **changes: object) -> None:
        """Change what is known."""
        progress = replace(self.progress, **changes)  # type: ignore[arg-type]
        if progress != self.progress:
            self.changed = time.monotonic()
        self.progress = progress

    def take_reports(self) -> Mapping[str, Any] | None:
        """Read what Spark reported since the last look; returns the newest, if there is one."""
        assert self.spark_query is not None, "only a started query is looked at"
        last = self.spark_query.lastProgress
        if last is None or self._is_known(last):
            return None
        # Spark keeps a hundred reports, and to fetch them all costs more than a batch may take.
        follows = (self._run, self._awaited) == (str(last["runId"]), int(last["batchId"]))
        read: Mapping[str, Any] | None = None
        for report in (last,) if follows else self.spark_query.recentProgress:
            if not self._is_known(report):
                read = json.loads(report.json)
                # One without a batch has the number of the batch that is still to come.
                self._awaited = int(read["batchId"]) + is_of_batch(read)
                self._run, self._reported = read["runId"], read["timestamp"]
                self.update(**self.progress.after(read))
        return read

    def _is_known(self, report: StreamingQueryProgress) -> bool:
        batch, is_later = int(report["batchId"]), str(report["timestamp"]) > self._reported
        is_new = batch > self._awaited or (batch == self._awaited and is_later)
        return str(report["runId"]) == self._run and not is_new
