"""One instance of the registry: all that belongs to it, put together, started and stopped."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headwater.http.answer_cache import AnswerCache
from headwater.http.app import App
from headwater.http.errors import StartError
from headwater.http.rights import ResourceType, administers
from headwater.registry.http.api import INTERFACE
from headwater.registry.http.contexts import enter_context, replace_aliases
from headwater.registry.http.leader import RegistryGate
from headwater.registry.http.rights import authorize
from headwater.registry.metrics import Metrics
from headwater.registry.schema_state import SchemaState
from headwater.registry.service import RegistryService
from headwater.registry.settings_scope import SettingsScope
from headwater.registry.store import SchemaStore
from headwater.topic_state.errors import TopicStateError
from headwater.topic_state.member import Member, MemberSettings
from headwater.topic_state.topic import StateTopic

if TYPE_CHECKING:
    from headwater.http.authentication import Authenticator
    from headwater.http.request import Request
    from headwater.registry.config import RegistryConfig


class Instance:
    """A registry that can be asked once it was started."""

    title = "schema registry"

    def __init__(
        self, config: RegistryConfig, url: str, authenticator: Authenticator | None = None
    ) -> None:
        self.config = config
        self.store = SchemaStore()
        self.metrics = Metrics()
        self._answers = AnswerCache()
        self._member = Member(
            SchemaState(self.store), _member_settings(config, url), self._answers.forget
        )
        scope = SettingsScope(self.store, config.compatibility_level)
        self.service = RegistryService(
            self.store,
            scope,
            self._member.writer,
            group=config.group,
            read_only=config.read_only,
            modes_can_change=config.modes_can_change,
        )
        self.metrics.watch(self.store, self._member)
        forwarder = config.forwarder(config.timeout_s + config.leader_patience_s)
        gate = RegistryGate(self.service, forwarder, self.metrics, config.leader_patience_s)
        self.app = App(
            INTERFACE,
            gate.handle,
            self.metrics,
            rewrite=self._rewrite,
            authenticator=authenticator,
            rights=config.rights(),
            administer=administers(ResourceType.SUBJECT),
            authorize=partial(authorize, self.service),
            cache=self._answers,
            access_log=config.access_log(),
            max_request_bytes=config.max_request_bytes,
        )

    async def start(self) -> None:
        """Read the topic to its end and join the group; raises StartError."""
        try:
            self.service.cluster_id = await self._member.start()
        except TopicStateError as failure:
            raise StartError(str(failure)) from None

    async def stop(self) -> None:
        """Leave the group, so that others can lead at once, and stop to read."""
        await self._member.stop()

    def summary(self) -> str:
        """Say how many subjects there are."""
        return f"{len(self.store.subjects)} subjects"

    def _rewrite(self, request: Request) -> None:
        enter_context(request)
        replace_aliases(request, self.service)


def _member_settings(config: RegistryConfig, url: str) -> MemberSettings:
    return MemberSettings(
        client=config.client_settings(),
        topic=StateTopic(
            config.topic, config.replication_factor, holds="schemas", setting="--topic"
        ),
        group=config.group,
        url=url,
        may_lead=config.is_eligible and not config.read_only,
        timeout_s=config.timeout_s,
        start_timeout_s=config.start_timeout_s,
        session_timeout_ms=config.session_timeout_ms,
    )
