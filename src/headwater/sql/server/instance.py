"""One instance of the server, as a process runs it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from headwater.clients.errors import InvalidPropertiesError
from headwater.http.app import App, call_handler
from headwater.http.errors import StartError
from headwater.http.metrics import RequestMetrics
from headwater.http.rights import ResourceType, administers
from headwater.sql.server.commands.headless import run_file
from headwater.sql.server.config import SqlConfig
from headwater.sql.server.http.api import INTERFACE
from headwater.sql.server.http.websocket_queries import ws_query
from headwater.sql.server.server import SqlServer
from headwater.sql.server.topics.log_stream import make_stream

if TYPE_CHECKING:
    from headwater.spark_services.spark_service import ServiceContext

_OWN_SETTINGS = "spark.headwater."
_REALM = "headwater SQL"
# A statement may have topics to make, and schemas to ask for.
_FORWARD_WITHIN_S = 60.0


class Instance:
    """A server that can be asked once it was started."""

    title = "SQL server"

    def __init__(self, context: ServiceContext) -> None:
        try:
            config = SqlConfig.of(context.settings, context.cluster)
        except InvalidPropertiesError as failure:
            raise StartError(f"the client settings were refused: {failure}") from None
        conf = context.jobs.session.conf
        own = {name: value for name, value in conf.items() if name.startswith(_OWN_SETTINGS)}
        config = replace(config, spark=own)
        forwarder = context.listener.forwarder(_FORWARD_WITHIN_S)
        self._making: asyncio.Task[None] | None = None
        self.server = SqlServer(config, context.jobs, context.url, forwarder)
        self.app = App(
            INTERFACE,
            call_handler(self.server),
            RequestMetrics("headwater_sql"),
            authenticator=context.listener.authenticator(_REALM),
            rights=context.listener.rights(),
            administer=administers(ResourceType.STREAM),
            access_log=context.listener.access_log(),
            sockets={"/ws/query": partial(ws_query, self.server)},
        )

    async def start(self) -> None:
        """Read what there is; the queries, and Spark, start behind it."""
        await self.server.start()
        config = self.server.config
        if config.queries_file is not None:
            await run_file(self.server, config.queries_file)
        elif config.log.makes_stream:
            self._making = asyncio.create_task(make_stream(self.server))

    async def stop(self) -> None:
        """Let go of everything."""
        if self._making is not None:
            self._making.cancel()
            await asyncio.wait([self._making])
        await self.server.stop()

    def summary(self) -> str:
        """Say what there is."""
        engine = self.server.engine
        return f"{len(engine.metastore.sources)} streams and tables, {len(engine.queries)} queries"
