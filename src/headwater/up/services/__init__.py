"""The services that the platform can run, and where a further one is added: one factory each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.up.services.broker import BROKER
from headwater.up.services.connect import CONNECT
from headwater.up.services.console import CONSOLE
from headwater.up.services.monitor import MONITOR
from headwater.up.services.registry import REGISTRY
from headwater.up.services.rest import REST
from headwater.up.services.sql import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.up.services.factory import ServiceFactory
    from headwater.up.services.spark import SparkServiceFactory
    from headwater.up.settings import PlatformSettings

SERVICES: tuple[ServiceFactory | SparkServiceFactory, ...] = (
    BROKER,
    REGISTRY,
    REST,
    MONITOR,
    CONSOLE,
    CONNECT,
    SQL,
)
"""In the order in which they are listed; each after what it needs, those on Spark last."""


class SelectionError(ValueError):
    """These services cannot be run together; the message says why."""


def selected(
    settings: PlatformSettings, services: Sequence[ServiceFactory | SparkServiceFactory] = SERVICES
) -> list[ServiceFactory | SparkServiceFactory]:
    """Return what makes the services that are asked for, and those that they need."""
    known = {factory.name: factory for factory in services}
    usual = [factory.name for factory in services if factory.is_usual]
    asked = usual if settings.services is None else settings.services
    chosen = [*asked, *settings.with_services]
    _check_known((*chosen, *settings.without_services), known)
    refused = set(settings.without_services) & set(settings.with_services)
    for name in refused:
        raise SelectionError(f"service '{name}' is asked for and left out at once")
    # Somebody else runs the broker.
    there = {BROKER.name} if settings.bootstrap_server is not None else set()
    left_out = set(settings.without_services) | there
    wanted: set[str] = set()
    waiting = [name for name in chosen if name not in left_out]
    while waiting:
        name = waiting.pop()
        wanted.add(name)
        for needed in known[name].needs:
            if needed in there or needed in wanted:
                continue
            if needed in left_out:
                raise SelectionError(
                    f"service '{name}' needs '{needed}', which is left out; leave out '{name}' "
                    "as well" + _or_else(needed)
                )
            waiting.append(needed)
    if not wanted:
        raise SelectionError(f"there is no service left to run; there are {_listed(known)}")
    return [_of_engine(factory, settings) for factory in services if factory.name in wanted]


def _of_engine(
    factory: ServiceFactory | SparkServiceFactory, settings: PlatformSettings
) -> ServiceFactory | SparkServiceFactory:
    """Return what makes a service with the engine that its settings ask for."""
    if factory is not CONNECT or settings.properties.get("connect", {}).get("engine") != "kafka":
        return factory
    if settings.security is not None:
        raise SelectionError(
            "Kafka's Connect worker (engine=kafka) lets in whoever reaches its port, which a "
            "secured platform does not; run it by itself with `headwater connect worker --engine "
            "kafka`, or ours with engine=spark"
        )
    # Only where it is asked for: what runs a JVM is slow to import.
    from headwater.up.services.kafka_connect import KAFKA_CONNECT

    return KAFKA_CONNECT


def _check_known(names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise SelectionError(f"there is no service '{name}'; there are {_listed(known)}")


def _or_else(needed: str) -> str:
    return ", or name a cluster with --bootstrap-server" if needed == BROKER.name else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
