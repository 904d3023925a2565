"""One instance of the proxy: all that belongs to it, put together, started and stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from headwater.clients.errors import InvalidPropertiesError, describe
from headwater.http.app import App, call_handler
from headwater.http.errors import StartError, forbidden
from headwater.rest.api import interface
from headwater.rest.identities import Identities
from headwater.rest.metrics import Metrics
from headwater.rest.service import RestService

if TYPE_CHECKING:
    from headwater.http.authentication import Authenticator
    from headwater.http.request import Request
    from headwater.rest.config import RestConfig


class Instance:
    """A proxy that can be asked once it was started.

    It starts without the cluster: whoever asks before a broker answers is told so, and need not
    start it again.
    """

    title = "REST proxy"

    def __init__(self, config: RestConfig, authenticator: Authenticator | None = None) -> None:
        try:
            self.service = RestService(config)
        except KafkaException as failure:
            raise StartError(
                f"the client settings were refused: {describe(failure.args[0])}"
            ) from None
        except (InvalidPropertiesError, ValueError) as failure:
            raise StartError(f"the client settings were refused: {failure}") from None
        metrics = Metrics()
        metrics.watch(self.service.consumers, self.service.producer)
        self._identities = Identities(config) if config.passes_credentials_on else None
        self.app = App(
            interface(config),
            self._identities.handle if self._identities else call_handler(self.service),
            metrics,
            authenticator=self._identities or authenticator,
            administer=_refused if self._identities else None,
            access_log=config.access_log(),
            max_request_bytes=config.max_request_bytes,
        )

    async def start(self) -> None:
        """Begin to take acknowledgements, and to expire consumers."""
        await self.service.start()
        if self._identities is not None:
            self._identities.start()

    async def stop(self) -> None:
        """Let consumers leave their groups, and records arrive that are on their way."""
        if self._identities is not None:
            await self._identities.stop()
        await self.service.stop()

    def summary(self) -> str:
        """Say which cluster it speaks for."""
        return f"for {self.service.config.bootstrap_servers}"


def _refused(_: Request) -> None:
    # It knows its callers by the cluster, which has no rights in this process to give.
    raise forbidden("a proxy that acts as its callers lets none of them change its loggers")
