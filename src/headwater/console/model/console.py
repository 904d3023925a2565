"""All that the pages of a cluster ask: the cluster, and the services around it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from headwater.console.model.brokers import Nodes, nodes
from headwater.console.model.cluster import Cluster
from headwater.console.model.commands import Commands
from headwater.console.model.connect.connect import Connect
from headwater.console.model.groups.groups import Groups
from headwater.console.model.json_service import JsonService
from headwater.console.model.local_nodes import LocalNodes
from headwater.console.model.monitor import Monitor
from headwater.console.model.overview import Overview, overview
from headwater.console.model.platform import Platform
from headwater.console.model.programs.pipelines import Pipelines
from headwater.console.model.programs.programs import Programs
from headwater.console.model.records.decoding import Decoder
from headwater.console.model.records.producing import Producing
from headwater.console.model.records.questions import ConsoleError, Questions
from headwater.console.model.records.records import Records
from headwater.console.model.records.resending import Resending
from headwater.console.model.records.tail import Tails
from headwater.console.model.schemas import Schemas
from headwater.console.model.security.certificates import Certificates
from headwater.console.model.security.quotas import Quotas
from headwater.console.model.security.roles import Action, Role
from headwater.console.model.security.security import Security
from headwater.console.model.sql.sql import Sql
from headwater.console.model.topics import Topics
from headwater.serde import SchemaRegistryClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.console.cluster_config import ClusterConfig
    from headwater.console.model.security.audit import AuditTrail
    from headwater.console.model.tour import Tour

Given = ParamSpec("Given")
Result = TypeVar("Result")

# Longer than a search among records takes at most, and shorter than a browser waits for a page.
ANSWER_WITHIN_S = 20.0


class Console:
    """Asks in threads, and changes nothing where it may only show.

    page = await console.ask(console.topics.page, Wanted("orders"))
    await console.change(who, Action.DELETE_TOPIC, "orders", console.topics.delete, "orders")
    """

    def __init__(
        self,
        config: ClusterConfig,
        audit: AuditTrail,
        tour: Tour | None = None,
        *,
        is_alone: bool = True,
    ) -> None:
        """Take a cluster; one that is not alone is named in whatever is said of it."""
        access = config.registry_access
        registry = None if access is None else SchemaRegistryClient(access, timeout_s=10, retries=1)
        self.is_read_only = config.is_read_only
        self.roles = config.roles
        self.masks = config.masks
        self.audit = audit
        self.tour = tour
        self.label = "" if is_alone else config.name
        """What it is called where there are others."""
        self.cluster = Cluster(config.access, config.name)
        self.local_nodes = None if config.data is None else LocalNodes(config.data)
        monitor = _service(config, "monitor", "monitor")
        self.monitor = None if monitor is None else Monitor(monitor)
        platform = _service(config, "platform", "platform's status")
        self.platform = None if platform is None else Platform(platform)
        connect = _service(config, "connect", "Connect worker")
        self.connect = None if connect is None else Connect(connect)
        sql = _service(config, "ksql", "SQL server")
        self.sql = None if sql is None else Sql(sql)
        self.programs = Programs(self.cluster)
        self.pipelines = Pipelines(self.programs, self.sql, self.connect)
        self.topics = Topics(self.cluster)
        self.records = Records(self.cluster, Decoder(registry), self.masks, config.scan_records)
        self.tails = Tails(self.cluster, self.records)
        self.producing = Producing(self.cluster, registry)
        self.resending = Resending(self.cluster, self.producing, self.masks)
        self.groups = Groups(self.cluster, self.monitor)
        self.schemas = None if registry is None else Schemas(registry)
        self.security = Security(self.cluster)
        self.quotas = Quotas(self.cluster)
        self.certificates = Certificates(self.cluster, config.access, config.service_urls)
        registry_url = None if registry is None else registry.urls[0]
        self.commands = Commands(config.bootstrap_servers, registry_url)
        self._questions = Questions()

    def overview(self) -> Overview:
        """Return the platform at a glance; blocks."""
        return overview(self.cluster, self.groups, self.monitor, self.platform, self.connect)

    def nodes(self) -> Nodes:
        """Return the cluster's brokers; blocks."""
        return nodes(self.cluster)

    async def ask(
        self, question: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        """Return the answer to a question that blocks; raises ConsoleError.

        Nobody waits for ever: what has not come after so long is said to be missing.
        """
        try:
            answer = self._questions.ask(question, *args, **kwargs)
            return await asyncio.wait_for(answer, ANSWER_WITHIN_S)
        except TimeoutError:
            raise self._named(
                ConsoleError(f"There is no answer after {ANSWER_WITHIN_S:g} s.")
            ) from None
        except ConsoleError as failure:
            raise self._named(failure) from failure.__cause__

    def role(self, who: str) -> Role:
        """Return what somebody is here, by the name of the principal."""
        return self.roles.of(who)

    def may(self, who: str, action: Action) -> bool:
        """Whether somebody may do something."""
        return not self._refusal(who, action)

    def may_query(self, who: str) -> bool:
        """Whether somebody may see what comes of any query; masks hide fields of topics alone."""
        return not self.masks or self.role(who) is Role.ADMIN

    async def change(
        self,
        who: str,
        action: Action,
        resource: str,
        doing: Callable[Given, Result],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Result:
        """Do something that changes the platform, if this person may, and write down who did it.

        Raises ConsoleError. All that changes something comes through here: that a page has no
        button for it is a courtesy.
        """
        refusal = self._refusal(who, action)
        if refusal:
            self._note(who, action, resource, refusal, allowed=False)
            raise self._named(ConsoleError(refusal))
        try:
            result = await self._questions.ask(doing, *args, **kwargs)
        except ConsoleError as failure:
            self._note(who, action, resource, str(failure), allowed=True)
            raise self._named(failure) from failure.__cause__
        self._note(who, action, resource, "", allowed=True)
        return result

    def _note(self, who: str, action: Action, what: str, error: str, *, allowed: bool) -> None:
        self.audit.note(who, action, what, error, allowed=allowed, cluster=self.label)

    def _named(self, failure: ConsoleError) -> ConsoleError:
        """Return a failure that says in which of several clusters it was."""
        return type(failure)(f"{self.label}: {failure}") if self.label else failure

    def _refusal(self, who: str, action: Action) -> str:
        if self.is_read_only:
            return "This console only shows; it was started with read.only."
        role, needed = self.role(who), action.role
        if action is Action.RUN_STATEMENT and not self.may_query(who):
            needed = Role.ADMIN  # a stream could be made of what masks hide
        if role >= needed:
            return ""
        return (
            f"To {action.words} takes the role {needed.name.lower()}, and {who} is "
            f"{role.name.lower()} here."
        )

    def stop(self) -> None:
        """Let go of everything, without waiting for what is under way."""
        self.tails.stop()
        if self.sql is not None:
            self.sql.stop()
        self._questions.stop()
        self.cluster.close()


def _service(config: ClusterConfig, name: str, title: str) -> JsonService | None:
    access = config.service_access(name)
    return None if access is None else JsonService(title, access.urls[0], access)
