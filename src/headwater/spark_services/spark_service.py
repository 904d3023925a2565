"""What a service is that needs Spark: settings, their check, and what makes it in its context."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from headwater.config import Values
from headwater.http.errors import StartError
from headwater.http.listener_settings import ListenerConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients import ClusterAccess
    from headwater.config import Definitions
    from headwater.http.service_process import Service
    from headwater.spark.jobs.host import JobHost


@dataclass(frozen=True)
class ServiceContext:
    """What a service is given: its URL, its settings, its cluster, and the host of its jobs."""

    url: str
    settings: Values
    listener: ListenerConfig
    """Whom it lets in, and where requests are written down; TLS is spoken for it."""
    cluster: ClusterAccess
    jobs: JobHost
    """Shared with the other services of the process; starts Spark with the first job."""


@runtime_checkable
class SparkService(Protocol):
    """A service that runs jobs; alone in a process, or beside others.

    Its `name` is its table in headwater.toml, the owner of its jobs, and said in errors. Among its
    `definitions` are those of a listener (`http/listener_settings.py`). Its module is loaded by
    `headwater up`, which checks settings before anything starts: it should load little itself, and
    the rest in `build`.
    """

    name: str
    definitions: Definitions

    def check(self, settings: Values) -> None:
        """Refuse settings that do not go together; raises ConfigError."""

    def build(self, context: ServiceContext) -> Service:
        """Return the service, not started; raises ConfigError and StartError."""


def read_settings(service: SparkService, given: Mapping[str, str]) -> tuple[Values, ListenerConfig]:
    """Return what a service was given, checked, and what its listener was; raises ConfigError."""
    values = Values(service.definitions, given)
    listener = ListenerConfig()
    for name in given:
        listener.take(name, values)
    listener.check()
    service.check(values)
    return values, listener


def load_service(target: str) -> SparkService:
    """Return the service at a place such as `headwater.sql.service:SQL`; raises StartError."""
    module, _, attribute = target.partition(":")
    try:
        service = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as failure:
        raise StartError(f"there is no service at {target!r}: {failure}") from failure
    if not isinstance(service, SparkService):
        raise StartError(f"{target} is a {type(service).__name__}, and no service that needs Spark")
    return service
