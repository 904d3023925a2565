"""The services of the platform, and where a further one is added.

Each service is a function that takes the settings and returns a Service; `plan` lists them all.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.processes.ports import FreePorts, reachable
from headwater.up.health import HttpCheck, KafkaCheck
from headwater.up.ports import PORTS, check_free
from headwater.up.service import Service

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cluster import KafkaCluster

_HEADWATER = (sys.executable, "-P", "-m", "headwater")


def default_data() -> Path:
    """Return where all data is kept unless something else is said."""
    return Path.home() / ".headwater" / "up"


@dataclass(frozen=True)
class Settings:
    """What `headwater up` was asked for, on the command line or in headwater.toml."""

    data: Path = field(default_factory=default_data)
    host: str = "127.0.0.1"
    port_offset: int = 0
    free_ports: bool = False
    # An existing cluster, instead of a broker of one's own.
    bootstrap_server: str | None = None
    # A file with what clients of that cluster need, such as passwords.
    command_config: Path | None = None
    # Which broker to start: ours, or so many nodes of Apache Kafka.
    engine: str = "embedded"
    brokers: int | None = None
    controllers: int | None = None
    racks: tuple[str, ...] = ()
    # Settings of the services themselves, by service.
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Plan:
    """Which services to run with the settings, and on which ports; close it after they stopped."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._free = FreePorts(settings.host) if settings.free_ports else None
        self._cluster: KafkaCluster | None = None
        self.services: list[Service] = []
        self._brokers: tuple[str, ...] = ()
        self.bootstrap_server = settings.bootstrap_server or ""
        try:
            if settings.bootstrap_server is None:
                self._add_brokers()
            self.services.append(_registry(self))
        except BaseException:
            self.close()
            raise

    def port(self, name: str, default: int | None = None) -> int:
        """Return a service's port; raises PortTakenError if it cannot be had."""
        if self._free is not None:
            return self._free.pick()
        port = (PORTS[name] if default is None else default) + self.settings.port_offset
        check_free(name, self.settings.host, port)
        return port

    def properties(self, name: str) -> list[str]:
        """Return the options that hand a service its own settings."""
        given = self.settings.properties.get(name, {})
        return [part for key, value in given.items() for part in ("--property", f"{key}={value}")]

    def after_broker(self) -> tuple[str, ...]:
        """Return what a service depends on that needs a broker."""
        return self._brokers

    def close(self) -> None:
        """Give reserved ports, and a cluster's directory, back."""
        if self._cluster is not None:
            self._cluster.close()
        if self._free is not None:
            self._free.close()

    def _add_brokers(self) -> None:
        if self.settings.engine != "kafka":
            broker = _broker(self)
            self.bootstrap_server = broker.address
            self.services.append(broker)
        else:
            # Only where it is asked for: what runs a JVM is slow to import.
            from headwater.up import kafka

            self._cluster = kafka.make_cluster(self)
            self.bootstrap_server = self._cluster.bootstrap_servers
            self.services += kafka.node_services(self._cluster)
        self._brokers = tuple(
            service.name for service in self.services if service.name.startswith("broker")
        )


def _broker(plan: Plan) -> Service:
    settings = plan.settings
    port = plan.port("broker")
    host = reachable(settings.host)
    return Service(
        name="broker",
        command=(
            *(*_HEADWATER, "broker", "--host", settings.host, "--port", str(port)),
            *("--data", str(settings.data / "broker")),
            *plan.properties("broker"),
        ),
        address=_join(host, port),
        description="Kafka protocol",
        health=KafkaCheck(host, port),
    )


def _registry(plan: Plan) -> Service:
    settings = plan.settings
    port = plan.port("registry")
    host = reachable(settings.host)
    tls = "ssl.certificate.location" in settings.properties.get("registry", {})
    return Service(
        name="registry",
        command=(
            *(*_HEADWATER, "registry", "--host", settings.host, "--port", str(port)),
            *("--bootstrap-server", plan.bootstrap_server),
            *_command_config(settings),
            *plan.properties("registry"),
        ),
        address=f"{'https' if tls else 'http'}://{_join(host, port)}",
        description="Schema Registry",
        health=HttpCheck(host, port, tls=tls),
        depends_on=plan.after_broker(),
    )


def _command_config(settings: Settings) -> tuple[str, ...]:
    if settings.command_config is None:
        return ()
    return ("--command-config", str(settings.command_config))


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
