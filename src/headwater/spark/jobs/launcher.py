"""Compiles a job's stages into queries on a Spark session, and starts each from its checkpoint."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, StreamingQueryException

from headwater.spark.checkpoints import CheckpointError
from headwater.spark.compiler.nodes import NodeCompiler, refused_by_spark
from headwater.spark.compiler.stages import compile_stage
from headwater.spark.jobs.failures import failure_of
from headwater.spark.jobs.modes import Modes
from headwater.spark.jobs.pools import in_pool
from headwater.spark.jobs.running_query import RunningQuery
from headwater.spark.jobs.slots import slots_needed
from headwater.spark.jobs.state_partitions import SHUFFLE_PARTITIONS, state_in, usual_partitions
from headwater.spark.jobs.writers import Writers
from headwater.spark.progress_topic import PROGRESS_TOPIC
from headwater.spark.topics import TopicReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from headwater.plan.plan import ProgramSettings
    from headwater.plan.splitting.stages import Stage
    from headwater.spark.checkpoints import Checkpoint
    from headwater.spark.compiler.stages import StageQuery
    from headwater.spark.formats.schemas import Schemas
    from headwater.spark.jobs.modes import Mode
    from headwater.spark.sinks.topic import MissingMarkers

_MISSING_MARKERS = "spark.headwater.missingMarkers"


class Launcher:
    """Starts the queries of one program on one session; `partitions` is of all topics.

    Their tasks are in the scheduler's `pool`.
    """

    def __init__(
        self,
        spark: SparkSession,
        stages: tuple[Stage, ...],
        settings: ProgramSettings,
        partitions: Mapping[str, int],
        checkpoint: Checkpoint,
        schemas: Schemas,
        *,
        once: bool,
        pool: str,
    ) -> None:
        self.spark = spark
        self._stages = stages
        self._settings = settings
        self._partitions = partitions
        self._checkpoint = checkpoint
        self._schemas = schemas
        self._modes = Modes(settings, once)
        self._pool = pool
        app = stages[0].plan.name
        self._writers = Writers(app, settings)

    def queries(self) -> dict[str, RunningQuery]:
        """Compile everything; raises PlanError for what Spark refuses."""
        return {
            query.name: RunningQuery(stage, query)
            for stage in self._stages
            for query in self._compiled(stage)
        }

    def slots_needed(self, queries: Iterable[RunningQuery]) -> int:
        """Return how many task slots these queries hold all the time, if they may."""
        usual = usual_partitions(self.spark)
        return sum(
            slots_needed(running.stage, self._partitions, self._state_partitions(running) or usual)
            for running in queries
            if self._modes.first(running.query, running.stage) in ("catching up", "real-time")
        )

    def keep_to_micro_batches(self) -> None:
        """Put no query into real-time mode, since there are no task slots for it."""
        self._modes = replace(self._modes, fits_real_time=False)

    def launch(self, running: RunningQuery) -> None:
        """Start a query; raises PlanError where Spark refuses it."""
        self._start(running, self._modes.first(running.query, running.stage))

    def relaunch(self, running: RunningQuery) -> None:
        """Start a query that has failed, compiled anew: schemas may have come up since."""
        fresh = {query.name: query for query in self._compiled(running.stage)}
        running.query = fresh[running.query.name]
        self.launch(running)

    def go_on(self, running: RunningQuery) -> bool:
        """Start a query that came to its end in the mode that follows; False if none does."""
        assert running.mode is not None, "it was started"
        mode = self._modes.following(running.mode, running.lasted_s)
        if mode is not None:
            self._start(running, mode)
        return mode is not None

    def rebuild(self, running: RunningQuery) -> None:
        """Do the batch that a query's checkpoint has planned, for its state alone.

        Raises CheckpointError where that fails.
        """
        unrecorded = replace(self.reader(batch=False), progress_topic=None)
        compiler = NodeCompiler(self.spark, unrecorded, self._schemas)
        again = {query.name: query for query in compile_stage(running.stage, compiler)}
        path = self._checkpoint.of_query(running.query.name)
        with (
            in_pool(self.spark, self._pool),
            state_in(self.spark, self._state_partitions(running)),
        ):
            started = self._writers.rebuild(again[running.query.name], path)
        try:
            started.awaitTermination()
        except StreamingQueryException as error:
            raise CheckpointError(
                f"{running.query.name}: its state cannot be computed again: "
                f"{failure_of(error).reason}"
            ) from error

    def reader(self, *, batch: bool) -> TopicReader:
        """Return what reads the program's topics: as a stream, or as a batch of what is there."""
        return TopicReader(
            self.spark,
            self._settings.cluster.bootstrap_servers,
            self._partitions,
            self._settings.cluster.java(),
            batch=batch,
            replay_from_ms=self._settings.replay_from_ms,
            progress_topic=PROGRESS_TOPIC if self._settings.from_topics else None,
        )

    def _compiled(self, stage: Stage) -> tuple[StageQuery, ...]:
        compiler = NodeCompiler(self.spark, self.reader(batch=False), self._schemas)
        return compile_stage(stage, compiler)

    def _state_partitions(self, running: RunningQuery) -> int | None:
        """Return into how many partitions a query's state goes; None if that is left to Spark."""
        mode = self._modes.first(running.query, running.stage)
        read = [self._partitions[topic] for topic in running.stage.topics_read]
        is_one = mode in ("catching up", "real-time") and read == [1]
        return 1 if is_one and SHUFFLE_PARTITIONS not in self._settings.spark else None

    def _start(self, running: RunningQuery, mode: Mode) -> None:
        path = self._checkpoint.of_query(running.query.name)
        # Whatever at_least_once had begun may come twice, and has left no marker that says so.
        unmarked = self._checkpoint.is_first_of_guarantee(running.query.name)
        goes_on = unmarked or self._settings.spark.get(_MISSING_MARKERS) == "continue"
        missing_markers: MissingMarkers = "continue" if goes_on else "fail"
        partitions = self._state_partitions(running)
        try:
            with in_pool(self.spark, self._pool), state_in(self.spark, partitions):
                running.spark_query = self._writers.start(
                    running.query, path, mode, missing_markers
                )
        except AnalysisException as refusal:
            raise refused_by_spark(refusal, running.stage.sinks[0].location) from refusal
        running.mode = mode
        running.started = time.monotonic()
        why = self._modes.why_micro_batches(running.query, running.stage) or ""
        state = "running" if mode == "once" else mode
        running.update(state=state, failure="", why_micro_batches=why)
