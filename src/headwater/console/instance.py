"""The console as a service: put together, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from headwater.console.gate import Gate
from headwater.console.http.api import INTERFACE
from headwater.console.model.console import Console
from headwater.console.model.questions import ConsoleError
from headwater.http.app import App, call_handler
from headwater.http.metrics import RequestMetrics

if TYPE_CHECKING:
    from headwater.console.config import ConsoleConfig

REALM = "headwater console"

logger = logging.getLogger("headwater.console")


class Instance:
    """A console that can be asked once it was started; its cluster need not be there."""

    title = "console"

    def __init__(self, config: ConsoleConfig) -> None:
        # NiceGUI takes a second to import, and has its pages in the process: there is one console.
        from headwater.console.view.pages import pages

        self.console = Console(config)
        self._config = config
        authenticator = config.authenticator(REALM)
        app = App(
            INTERFACE,
            call_handler(self.console),
            RequestMetrics("headwater_console"),
            authenticator=authenticator,
            access_log=config.access_log(),
            rest=pages(self.console, has_users=authenticator is not None),
        )
        self.app = Gate(
            app,
            authenticator,
            is_secure=config.certificate_file is not None,
            allowed_hosts=config.allowed_hosts,
        )

    async def start(self) -> None:
        """Take a first look at the cluster, for which nobody waits."""
        self._first_look = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Let go of the cluster."""
        self.console.stop()

    async def _look(self) -> None:
        try:
            await self.console.ask(self.console.cluster.look)
        except ConsoleError as failure:
            logger.info("the cluster cannot be seen yet: %s", failure)

    def summary(self) -> str:
        """Say what is shown."""
        only = ", read only" if self.console.is_read_only else ""
        return f"cluster at {self._config.bootstrap_servers}{only}"
