"""The console as a service: put together, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from headwater.console.gate import Gate
from headwater.console.http.api import INTERFACE
from headwater.console.model.consoles import Consoles
from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Role
from headwater.http.app import App, call_handler
from headwater.http.errors import forbidden
from headwater.http.metrics import RequestMetrics

if TYPE_CHECKING:
    from headwater.console.config import ConsoleConfig
    from headwater.console.model.console import Console
    from headwater.http.request import Request

REALM = "headwater console"

logger = logging.getLogger("headwater.console")


class Instance:
    """A console that can be asked once it was started; its cluster need not be there."""

    title = "console"

    def __init__(self, config: ConsoleConfig) -> None:
        # NiceGUI takes a second to import, and has its pages in the process: there is one console.
        from headwater.console.view.pages import pages

        self.consoles = Consoles(config)
        self._config = config
        authenticator = config.authenticator(REALM)
        app = App(
            INTERFACE,
            call_handler(self.consoles),
            RequestMetrics("headwater_console"),
            authenticator=authenticator,
            access_log=config.access_log(),
            administer=self._administer,
            rest=pages(self.consoles, has_users=authenticator is not None),
        )
        self.app = Gate(
            app,
            authenticator,
            is_secure=config.certificate_file is not None,
            allowed_hosts=config.allowed_hosts,
        )

    async def start(self) -> None:
        """Take a first look at the clusters, for which nobody waits."""
        self._first_looks = [asyncio.create_task(_look(each)) for each in self.consoles]

    async def stop(self) -> None:
        """Let go of the clusters."""
        self.consoles.stop()

    def _administer(self, request: Request) -> None:
        who = str(request.principal)
        if any(each.role(who) is not Role.ADMIN for each in self.consoles):
            raise forbidden(f"{who} is no admin here")

    def summary(self) -> str:
        """Say what is shown."""
        first, *others = self._config.clusters
        only = ", read only" if first.is_read_only else ""
        more = f" and {', '.join(each.name for each in others)}" if others else ""
        return f"cluster at {first.bootstrap_servers}{only}{more}"


async def _look(console: Console) -> None:
    try:
        await console.ask(console.cluster.look)
        await console.ask(console.cluster.directories)
    except ConsoleError as failure:
        logger.info("the cluster cannot be seen yet: %s", failure)
