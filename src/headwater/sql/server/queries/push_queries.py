"""Push queries: rows go to a client as they come, until it leaves or somebody closes the query."""

from __future__ import annotations

import asyncio
import logging
import shutil
import uuid
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.sql.analysis.query.analysed import sources_of
from headwater.sql.errors import SqlError
from headwater.sql.server.properties import DEFAULTS, OFFSET_RESET
from headwater.sql.server.queries.plans import START_OFFSETS, Ends, query_plan, stream_topics
from headwater.sql.server.queries.projection import Projection, result_columns
from headwater.sql.server.queries.query_jobs import OWNER
from headwater.sql.server.queries.query_result import QueryResult
from headwater.sql.server.queries.topic_reading import TopicReading
from headwater.sql.server.queries.transient_query import TransientQuery, transient_query
from headwater.sql.server.rows.formats import MalformedError
from headwater.sql.server.rows.records import RecordReader
from headwater.sql.server.rows.shown import shown

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping

    from headwater.serde import SchemaRegistryClient
    from headwater.spark.jobs.host import JobHost
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.server.config import SqlConfig
    from headwater.sql.server.engine import Engine
    from headwater.sql.server.topics.processing_log import ProcessingLog
    from headwater.sql.server.topics.topics import Topics
    from headwater.sql.tree.queries import Query

logger = logging.getLogger("headwater.sql")

_TRANSIENT_TOPIC = {"cleanup.policy": "delete", "retention.ms": "3600000"}


class PushQueries:
    """Those that run at the moment.

    A query over one stream or table that needs no state is computed in Python out of its topic,
    which takes milliseconds. All others are jobs of Spark's host, like stored queries, whose rows
    come through a topic that is deleted with them.
    """

    def __init__(
        self,
        config: SqlConfig,
        engine: Engine,
        host: JobHost,
        topics: Topics,
        registry: SchemaRegistryClient | None,
        log: ProcessingLog,
    ) -> None:
        self._config = config
        self._engine = engine
        self._host = host
        self._topics = topics
        self._registry = registry
        self._log = log
        self._open: dict[str, TopicReading] = {}
        self._owners: dict[str, str] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of those that run."""
        return tuple(self._open)

    async def start(
        self, query: Query, analysed: AnalysedQuery, properties: Mapping[str, str], owner: str
    ) -> QueryResult:
        """Begin a query of somebody's; raises SqlError."""
        if len(self._open) >= self._config.max_push_queries:
            raise SqlError(
                f"Not executing statement as {len(self._open)} push queries run already, which is "
                "as many as ksql.max.push.queries allows"
            )
        chosen = {**DEFAULTS, **self._config.properties, **properties}
        is_earliest = chosen[OFFSET_RESET] == "earliest"
        try:
            projection = Projection(analysed)
        except SqlError:
            result = await self._by_spark(query, analysed, properties, is_earliest)
        else:
            result = await self._by_python(projection, analysed, is_earliest)
        # Rows are given out from now on: until then nobody knows the query's id.
        self._owners = {id_: who for id_, who in self._owners.items() if id_ in self._open}
        self._owners[result.query_id] = owner
        return result

    def owner(self, query_id: str) -> str | None:
        """Return who has begun a query; None if there is none."""
        return self._owners.get(query_id) if query_id in self._open else None

    def close(self, query_id: str) -> bool:
        """End a query; returns whether there was one."""
        reading = self._open.pop(query_id, None)
        if reading is not None:
            reading.end()
        return reading is not None

    async def stop(self) -> None:
        """End all, and what they leave behind."""
        for query_id in self.ids:
            self.close(query_id)
        if self._ending:
            await asyncio.wait(self._ending)

    def _result(
        self,
        query_id: str,
        analysed: AnalysedQuery,
        reading: TopicReading,
        batches: AsyncGenerator[list[list[Any]], None],
        end: Callable[[], Coroutine[None, None, None]] | None = None,
    ) -> QueryResult:
        """Return the rows of a query that runs from now on, until they are closed."""
        is_open = True
        self._open[query_id] = reading

        def close() -> None:
            nonlocal is_open
            if is_open:
                is_open = False
                self._open.pop(query_id, None)
                reading.close()
                if end is not None:
                    self._in_background(end())

        columns = result_columns(analysed)
        return QueryResult(
            query_id, columns, batches, is_push=True, limit=analysed.limit, close=close
        )

    async def _by_python(
        self, projection: Projection, analysed: AnalysedQuery, is_earliest: bool
    ) -> QueryResult:
        source = projection.source
        query_id = f"transient_{source.name}_{uuid.uuid4().int % 10**18}"
        tell = partial(self._log.tell, query_id, source.topic)
        records = projection.reading(self._registry, tell)
        reading = TopicReading(self._config.cluster, source.topic, from_beginning=is_earliest)
        await reading.open()

        async def batches() -> AsyncGenerator[list[list[Any]], None]:
            async with aclosing(reading.batches()) as read:
                async for batch in read:
                    yield list(records.rows(batch))

        return self._result(query_id, analysed, reading, batches())

    async def _by_spark(
        self,
        query: Query,
        analysed: AnalysedQuery,
        properties: Mapping[str, str],
        is_earliest: bool,
    ) -> QueryResult:
        number = uuid.uuid4().int % 10**18
        topic = f"_confluent-ksql-{self._config.service_id}transient_{number}"
        transient = transient_query(query, analysed, self._engine, topic)
        first, *_ = sources_of(analysed.relation)
        query_id = f"transient_{first.source.name}_{number}"
        given = dict(properties)
        if not is_earliest:
            given[START_OFFSETS] = await self.ends_of(stream_topics(transient.stored))
        checkpoint = self._config.checkpoints / "transient" / str(number)
        plan = query_plan(topic, transient.stored, given, self._config, checkpoint)
        await asyncio.to_thread(self._topics.create, topic, 1, None, _TRANSIENT_TOPIC)
        reading = TopicReading(self._config.cluster, topic, from_beginning=True)

        def run() -> None:
            self._host.start(topic, plan, owner=OWNER, falls_back=True)

        async def end() -> None:
            await asyncio.to_thread(self._forget, topic)
            shutil.rmtree(checkpoint, ignore_errors=True)

        try:
            await reading.open()
            await asyncio.to_thread(run)
        except BaseException as failure:
            reading.close()
            self._in_background(end())
            if isinstance(failure, SqlError | asyncio.CancelledError):
                raise
            raise SqlError(f"the query cannot run: {failure}") from failure
        batches = self._transient_rows(transient, analysed, reading)
        return self._result(query_id, analysed, reading, batches, end)

    async def ends_of(self, topics: tuple[str, ...]) -> str:
        """Return where topics end now, as the property that queries begin by."""
        ends: Ends = {}
        for topic in topics:
            ends[topic] = await asyncio.to_thread(self._topics.ends, topic)
        return msgspec.json.encode(ends).decode()

    async def _transient_rows(
        self, transient: TransientQuery, analysed: AnalysedQuery, reading: TopicReading
    ) -> AsyncGenerator[list[list[Any]], None]:
        reader = RecordReader(transient.stored.sink, "T", None)
        types = [column.value.type for column in analysed.selected]
        places = [("T", name) for name in transient.columns]
        async with aclosing(reading.batches()) as read:
            async for batch in read:
                rows: list[list[Any]] = []
                for record in batch:
                    if record.value is None:
                        continue  # a group that HAVING has left
                    try:
                        row = reader.row(record)
                    except MalformedError as malformed:
                        logger.warning("a row of a push query is left out: %s", malformed)
                        continue
                    found = zip(places, types, strict=True)
                    rows.append([shown(row[place], type_) for place, type_ in found])
                if rows:
                    yield rows

    def _forget(self, name: str) -> None:
        from headwater.spark.jobs.host import NoSuchJob

        try:
            self._host.remove(name)
        except NoSuchJob:
            pass  # it could not start
        except Exception:
            logger.exception("the push query %s does not stop as it should", name)
        try:
            self._topics.delete(name)
        except SqlError as failure:
            logger.warning("%s", failure)

    def _in_background(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
