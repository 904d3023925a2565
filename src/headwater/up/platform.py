"""The platform: which services run with the settings, on which ports, on which cluster."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from headwater.config.sources import as_variables
from headwater.processes.ports import FreePorts
from headwater.up.ports import PORTS, STATUS_HOST, STATUS_PORT, check_free
from headwater.up.security import secured
from headwater.up.services import SERVICES, selected
from headwater.up.services.factory import ServiceFactory
from headwater.up.services.spark import SparkServiceFactory, spark_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.up.service import Service
    from headwater.up.settings import PlatformSettings


class Platform:
    """All services, made and not started; close it after they stopped."""

    def __init__(
        self,
        settings: PlatformSettings,
        services: Sequence[ServiceFactory | SparkServiceFactory] = SERVICES,
    ) -> None:
        """Make the services; raises SelectionError, PortTakenError and what their factories do."""
        chosen = selected(settings, services)
        self.settings = settings = secured(settings, chosen)
        self.services: list[Service] = []
        self.chosen = [factory.name for factory in chosen]
        self._ports: dict[tuple[str, int | None], int] = {}
        self._free: FreePorts | None = None
        with ExitStack() as stack:
            self._stack = stack
            if settings.free_ports:
                self._free = FreePorts(settings.host)
                stack.callback(self._free.close)
            # Before the services: the console is told where it is.
            self.status_port = self._status_port(stack)
            for factory in chosen:
                if isinstance(factory, ServiceFactory):
                    self.services += factory.make(self)
            on_spark = [each for each in chosen if isinstance(each, SparkServiceFactory)]
            if on_spark:
                self.services.append(spark_process(self, on_spark))
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def brokers(self) -> tuple[str, ...]:
        """What a service depends on that needs a broker; nothing if the cluster is not ours."""
        return tuple(each.name for each in self.services if each.name.startswith("broker"))

    @property
    def bootstrap_server(self) -> str:
        """Where clients find the cluster; empty if there is none yet."""
        if self.settings.bootstrap_server is not None:
            return self.settings.bootstrap_server
        brokers = [each for each in self.services if each.name in self.brokers]
        return ",".join(place.address for broker in brokers for place in broker.endpoints)

    def port(self, name: str, default: int | None = None) -> int:
        """Return a service's port, each time the same; raises PortTakenError if it is taken."""
        known = (name, default)
        if known not in self._ports:
            self._ports[known] = self._new_port(name, default)
        return self._ports[known]

    def _new_port(self, name: str, default: int | None) -> int:
        if self._free is not None:
            return self._free.pick()
        port = (PORTS[name] if default is None else default) + self.settings.port_offset
        check_free(name, self.settings.host, port)
        return port

    def cluster_options(self, name: str) -> list[str]:
        """Return the options by which a service reaches the cluster, with keys as itself."""
        secrets, kit = self.settings.command_config, self.settings.security
        if kit is not None:
            secrets = kit.service(name).librdkafka
        return [
            *("--bootstrap-server", self.bootstrap_server),
            *([] if secrets is None else ["--command-config", str(secrets)]),
        ]

    def environment(self, name: str) -> dict[str, str]:
        """Return a service's own settings as variables.

        Not as options: every user of the machine sees those, and some settings are passwords.
        """
        given = self.settings.properties.get(name, {})
        insecure = {"HEADWATER_INSECURE": "true"} if self.settings.insecure else {}
        return {**as_variables(name, given), **insecure}

    def when_closed(self, action: Callable[[], None]) -> None:
        """Do this when all services have stopped."""
        self._stack.callback(action)

    def close(self) -> None:
        """Give back what the services were made with: ports, a cluster's directory."""
        self._stack.close()

    def _status_port(self, stack: ExitStack) -> int:
        if self.settings.free_ports:
            free = FreePorts(STATUS_HOST)
            stack.callback(free.close)
            return free.pick()
        port = STATUS_PORT + self.settings.port_offset
        check_free("platform's status", STATUS_HOST, port)
        return port
