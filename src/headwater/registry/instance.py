"""One instance of the registry: all that belongs to it, put together, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.http.access_log import AccessLog
from headwater.http.answer_cache import AnswerCache
from headwater.http.app import App
from headwater.http.errors import StartError
from headwater.registry.election import Election
from headwater.registry.errors import RegistryError
from headwater.registry.http.api import INTERFACE
from headwater.registry.http.contexts import enter_context, replace_aliases
from headwater.registry.http.forwarding import Forwarder
from headwater.registry.http.leader import LeaderGate
from headwater.registry.kafka_log import KafkaLog
from headwater.registry.metrics import Metrics
from headwater.registry.service import RegistryService
from headwater.registry.settings_scope import SettingsScope
from headwater.registry.store import SchemaStore
from headwater.registry.topic import TopicError, prepare_topic
from headwater.registry.writer import NotLeaderError, Writer

if TYPE_CHECKING:
    from headwater.http.authentication import Authenticator
    from headwater.http.request import Request
    from headwater.registry.config import RegistryConfig

logger = logging.getLogger("headwater.registry")

# A claim is a tombstone, which compaction removes a day later; newcomers should find one.
ANNOUNCE_S = 3600.0


class Instance:
    """A registry that can be asked once it was started."""

    title = "schema registry"

    def __init__(
        self, config: RegistryConfig, url: str, authenticator: Authenticator | None = None
    ) -> None:
        self.config = config
        self.store = SchemaStore()
        self.metrics = Metrics()
        self.writer = Writer(self.store, url, self._changed)
        scope = SettingsScope(self.store, config.compatibility_level)
        self.service = RegistryService(
            self.store,
            scope,
            self.writer,
            group=config.group,
            read_only=config.read_only,
            modes_can_change=config.modes_can_change,
        )
        client = config.client_settings()
        self.log = KafkaLog(client, config.topic, self.writer.apply, timeout_s=config.timeout_s)
        self.writer.attach(self.log)
        self.metrics.watch(self.writer, self.log)
        forwarder = Forwarder(
            config.timeout_s + config.leader_patience_s,
            config.ca_file,
            config.certificate_file,
            config.key_file,
        )
        gate = LeaderGate(self.service, forwarder, self.metrics, config.leader_patience_s)
        self._answers = AnswerCache()
        self.app = App(
            INTERFACE,
            gate.handle,
            self.metrics,
            rewrite=self._rewrite,
            authenticator=authenticator,
            cache=self._answers,
            access_log=None if not config.request_logger else AccessLog(config.request_logger),
            max_request_bytes=config.max_request_bytes,
        )
        self._election = Election(
            client,
            config.group,
            config.topic,
            self._elected,
            session_timeout_ms=config.session_timeout_ms,
        )
        self._announcing: asyncio.Task[None] | None = None
        self._rebalanced = asyncio.Event()
        self._has_started = False

    async def start(self) -> None:
        """Read the topic to its end and join the group; raises StartError."""
        config = self.config
        client = config.client_settings()
        try:
            self.service.cluster_id = await prepare_topic(
                client, config.topic, config.replication_factor, config.start_timeout_s
            )
        except TopicError as failure:
            raise StartError(str(failure)) from None
        self.log.start()
        self._has_started = True
        if config.is_eligible and not config.read_only:
            self._election.start()
            self._announcing = asyncio.create_task(self._announce())
        try:
            end = await self.log.end_offset()
            await self.log.read_to(end, config.start_timeout_s)
        except RegistryError as failure:
            raise StartError(f"the topic {config.topic} cannot be read: {failure}") from None

    async def stop(self) -> None:
        """Leave the group, so that others can lead at once, and stop to read."""
        if self._announcing is not None:
            self._announcing.cancel()
        await self._election.stop()
        if self._has_started:
            await self.log.stop()

    def summary(self) -> str:
        """Say how many subjects there are."""
        return f"{len(self.store.subjects)} subjects"

    def _rewrite(self, request: Request) -> None:
        enter_context(request)
        replace_aliases(request, self.service)

    async def _announce(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._rebalanced.wait(), ANNOUNCE_S)
            is_time = not self._rebalanced.is_set()
            self._rebalanced.clear()
            try:
                await self.writer.announce(again=is_time)
            except (RegistryError, NotLeaderError) as failure:
                reason = str(failure) or "another instance was faster"
                logger.warning("the lead could not be claimed: %s", reason)
                await asyncio.sleep(1)
                if self.writer.should_lead:
                    self._rebalanced.set()

    def _elected(self, should_lead: bool) -> None:
        self.writer.set_should_lead(should_lead)
        if should_lead:
            self._rebalanced.set()

    def _changed(self) -> None:
        self._answers.forget()
