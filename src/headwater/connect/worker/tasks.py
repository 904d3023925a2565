"""Opens a connector: its plug-in, its offsets, and what runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headwater.connect.connectors.connector import ConnectorContext
from headwater.connect.worker.offset_store import OffsetStore
from headwater.connect.worker.sink_group import SinkGroup
from headwater.connect.worker.sink_task import SinkTask
from headwater.connect.worker.source_task import SourceTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import SparkSession

    from headwater.connect.connectors.connector import SinkPlugin, SourcePlugin
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.progress import Progress
    from headwater.connect.worker.run import Task


class Tasks:
    """Opens connectors for one worker; `start_session` starts Spark when one needs it."""

    def __init__(self, config: WorkerConfig, start_session: Callable[[], SparkSession]) -> None:
        self._config = config
        self._start_session = start_session
        self._store = OffsetStore(config.client("offsets"), config.offsets.name)

    def open(
        self,
        spec: ConnectorSpec,
        progress: Progress,
        note_topics: Callable[[Iterable[str]], None],
    ) -> Task:
        """Return a connector that goes on where it was; raises what is in its way."""
        return (self._source if spec.is_source else self._sink)(spec, progress, note_topics)

    def _source(
        self,
        spec: ConnectorSpec,
        progress: Progress,
        note_topics: Callable[[Iterable[str]], None],
    ) -> SourceTask:
        # Whoever ran it before can write no more: now the offsets stay as they are.
        slots = range(spec.tasks_max)
        self._store.fence([self._config.transactional_id(spec.name, slot) for slot in slots])
        offsets = self._store.of(spec.name)
        context = ConnectorContext(
            name=spec.name,
            start_session=self._start_session,
            stored_offset=offsets.get,
            tasks_max=spec.tasks_max,
            properties=spec.properties,
        )
        source = cast("SourcePlugin", spec.plugin).open(spec.own, context)
        return SourceTask(
            spec, self._config, source, offsets, self._start_session, progress, note_topics
        )

    def _sink(
        self,
        spec: ConnectorSpec,
        progress: Progress,
        note_topics: Callable[[Iterable[str]], None],
    ) -> SinkTask:
        context = ConnectorContext(
            name=spec.name,
            start_session=self._start_session,
            tasks_max=spec.tasks_max,
            properties=spec.properties,
        )
        sink = cast("SinkPlugin", spec.plugin).open(spec.own, context)
        group = SinkGroup(self._config.client("sink"), spec.name)
        return SinkTask(spec, self._config, sink, group, self._start_session, progress, note_topics)
