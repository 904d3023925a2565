"""One worker: all that belongs to it, put together, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from headwater.connect.worker.config_state import ConfigState
from headwater.connect.worker.connector_offsets import OffsetsOfConnectors
from headwater.connect.worker.connectors import Connectors
from headwater.connect.worker.herder import Herder
from headwater.connect.worker.http.api import INTERFACE
from headwater.connect.worker.http.leader import ConnectGate
from headwater.connect.worker.http.rights import authorize
from headwater.connect.worker.metrics import Metrics
from headwater.connect.worker.service import ConnectService
from headwater.connect.worker.status_log import StatusLog
from headwater.http.app import App
from headwater.http.errors import StartError
from headwater.http.rights import ResourceType, administers
from headwater.topic_state.errors import TopicStateError
from headwater.topic_state.member import Member, MemberSettings
from headwater.topic_state.topic import StateTopic, prepare_topic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.connect.worker.config import StorageTopic, WorkerConfig
    from headwater.connect.worker.herder import OpenTask
    from headwater.http.listener_settings import ListenerConfig

logger = logging.getLogger("headwater.connect")

_TIMEOUT_S = 30.0
REALM = "headwater Connect"


class Instance:
    """A worker that can be asked once it was started."""

    title = "Connect worker"

    def __init__(
        self,
        config: WorkerConfig,
        listener: ListenerConfig,
        open_task: OpenTask,
        only: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Put a worker together; with `only`, it has these connectors and no others."""
        self._config = config
        self._only = only
        self._replacing: asyncio.Task[None] | None = None
        self._state = ConfigState()
        self._statuses = StatusLog(config)
        self._herder = Herder(config, self._state, self._statuses, open_task)
        self._member = Member(
            self._state,
            MemberSettings(
                client=config.client("configs"),
                topic=_topic(config.configs, "the configurations of connectors", "config"),
                # Not the group's own name: an original's worker with that name is no such member.
                group=f"{config.group}-headwater",
                url=config.url,
                session_timeout_ms=config.session_timeout_ms,
            ),
            self._herder.wake,
        )
        writer = self._member.writer
        connectors = Connectors(config, self._state, writer, self._statuses, self._herder)
        self.service = ConnectService(config, connectors, OffsetsOfConnectors(config))
        self.app = App(
            INTERFACE,
            ConnectGate(self.service, writer, listener.forwarder(_TIMEOUT_S)).handle,
            Metrics(self._herder, config.stalled_after_s),
            authenticator=listener.authenticator(REALM),
            rights=listener.rights(),
            administer=administers(ResourceType.CONNECTOR),
            authorize=authorize,
            access_log=listener.access_log(),
        )

    async def start(self) -> None:
        """Read the topics to their ends, join the group, and begin; raises StartError."""
        offsets = _topic(self._config.offsets, "the offsets of sources", "offset")
        try:
            await prepare_topic(self._config.client("offsets"), offsets, _TIMEOUT_S)
            await self._statuses.start()
            self.service.cluster_id = await self._member.start()
        except TopicStateError as failure:
            raise StartError(str(failure)) from None
        self._herder.start(self._member.writer)
        if self._only is not None:
            self._replacing = asyncio.create_task(self._replace(self._only))

    async def stop(self) -> None:
        """End what runs, and leave the group, so that others can go on at once."""
        if self._replacing is not None:
            self._replacing.cancel()
        await self._herder.stop()
        await self._statuses.stop()
        await self._member.stop()

    async def _replace(self, wanted: Mapping[str, Mapping[str, str]]) -> None:
        connectors, writer = self.service.connectors, self._member.writer
        while True:
            try:
                async with writer.leading():
                    for name in set(connectors.names()) - set(wanted):
                        await connectors.delete(name)
                    for name, config in wanted.items():
                        await connectors.put(name, config)
                    return
            except TopicStateError as failure:
                logger.info("the connectors are not stored yet: %s", failure)
                await writer.wait_for_change(1.0)

    def summary(self) -> str:
        """Say how many connectors there are."""
        return f"group {self._config.group}, {len(self._state.connectors())} connectors"


def _topic(topic: StorageTopic, holds: str, kind: str) -> StateTopic:
    return StateTopic(
        topic.name, topic.replication_factor, holds=holds, setting=f"{kind}.storage.topic"
    )
