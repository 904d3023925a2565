"""The server: all that belongs to it, put together, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.http.errors import StartError
from headwater.serde import SchemaRegistryClient
from headwater.sql.errors import SqlError
from headwater.sql.server.commands.command_log import CommandLog, command_topic
from headwater.sql.server.connect_cluster import ConnectCluster
from headwater.sql.server.engine import Engine
from headwater.sql.server.queries.pull_queries import PullQueries
from headwater.sql.server.queries.push_queries import PushQueries
from headwater.sql.server.queries.query_jobs import QueryJobs
from headwater.sql.server.queries.table_stores import TableStores
from headwater.sql.server.topics.inserted_rows import RowInserter
from headwater.sql.server.topics.processing_log import ProcessingLog
from headwater.sql.server.topics.registry_schemas import RegistrySchemas
from headwater.sql.server.topics.topics import Topics
from headwater.topic_state.errors import TopicStateError
from headwater.topic_state.member import Member, MemberSettings
from headwater.topic_state.topic import StateTopic

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.http.forwarding import Forwarder
    from headwater.spark.jobs.host import JobHost
    from headwater.sql.server.config import SqlConfig
    from headwater.topic_state.writer import Writer

logger = logging.getLogger("headwater.sql")

_LOOK_EVERY_S = 1.0


class SqlServer:
    """One server of a service id: it knows all commands, and runs the queries while it leads."""

    def __init__(self, config: SqlConfig, host: JobHost, url: str, forwarder: Forwarder) -> None:
        self.config = config
        self.forwarder = forwarder
        """What passes statements on to the server that leads."""
        self.url = config.advertised_url or url
        self.engine = Engine()
        self.log = CommandLog(self.engine)
        self.cluster_id = ""
        self.registry = None if config.registry is None else SchemaRegistryClient(config.registry)
        self.schemas = RegistrySchemas(self.registry)
        self.topics = Topics(config.cluster)
        self.connect = ConnectCluster(config.connect_url)
        self.jobs = QueryJobs(host, config)
        self.stores = TableStores(config.cluster, self._store_directory(), self.registry)
        self.processing_log = ProcessingLog(config)
        self.pull = PullQueries(config, self.stores, self.registry, self.processing_log)
        self.push = PushQueries(
            config, self.engine, host, self.topics, self.registry, self.processing_log
        )
        self.inserter = RowInserter(config.cluster, self.registry)
        self.member: Member | None = None
        self._looking: asyncio.Task[None] | None = None

    @property
    def writer(self) -> Writer:
        """What writes to the command topic while this server leads."""
        assert self.member is not None, "the server was not started"
        return self.member.writer

    async def start(self) -> None:
        """Read all commands; raises StartError. Queries are started behind it."""
        topic = StateTopic(
            command_topic(self.config.service_id),
            self.config.replicas,
            "the server's streams, tables and queries",
            "ksql.service.id",
            is_compacted=False,
        )
        settings = MemberSettings(
            client={**self.config.cluster.for_admin().librdkafka(), "client.id": "headwater-sql"},
            topic=topic,
            group=f"_confluent-ksql-{self.config.service_id}servers",
            url=self.url,
        )
        self.member = Member(self.log, settings, self.bring_about)
        try:
            self.cluster_id = await self.member.start()
        except TopicStateError as failure:
            raise StartError(str(failure)) from failure
        await self._make_processing_log()
        self.jobs.start()
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Let go of everything; the host stops the queries' jobs."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        await self.push.stop()
        self.jobs.stop()
        if self.member is not None:
            await self.member.stop()
        await asyncio.to_thread(self.inserter.stop)
        await asyncio.to_thread(self.processing_log.stop)
        await asyncio.to_thread(self.stores.close)
        if self.registry is not None:
            self.registry.close()

    def bring_about(self) -> None:
        """Have those queries run that should: all of them if this server leads, else none."""
        is_leader = self.member is not None and self.member.writer.is_leader
        self.jobs.want(self.engine.queries if is_leader else {})

    async def _make_processing_log(self) -> None:
        log = self.config.log
        if log.makes_topic:
            try:
                await asyncio.to_thread(
                    self.topics.create, log.topic, log.partitions, log.replicas, {}
                )
            except SqlError as failure:
                raise StartError(f"the processing log: {failure}") from failure

    async def _look(self) -> None:
        """Take note when the lead comes or goes, which no record may tell."""
        while True:
            try:
                self.bring_about()
            except Exception:
                logger.exception("queries could not be started or stopped; trying again")
            await self.writer.wait_for_change(_LOOK_EVERY_S)

    def _store_directory(self) -> Path:
        # Every server follows tables by itself, also those on one machine.
        place = urlsplit(self.url)
        name = f"{place.hostname}_{place.port}"
        return self.config.state_dir / "stores" / (self.config.service_id or "default") / name
