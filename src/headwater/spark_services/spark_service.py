"""What a service is that needs Spark: settings, and what makes it in the context it is given."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from headwater.http.errors import StartError

if TYPE_CHECKING:
    from headwater.clients import ClusterAccess
    from headwater.config import Definitions, Values
    from headwater.http.service_process import Service
    from headwater.spark.jobs.host import JobHost


@dataclass(frozen=True)
class ServiceContext:
    """What a service is given: its URL, its settings, its cluster, and the host of its jobs."""

    url: str
    settings: Values
    cluster: ClusterAccess
    jobs: JobHost
    """Shared with the other services of the process; starts Spark with the first job."""


@runtime_checkable
class SparkService(Protocol):
    """A service that runs jobs; alone in a process, or beside others.

    Its `name` is its table in headwater.toml, the owner of its jobs, and said in errors.
    """

    name: str
    definitions: Definitions

    def build(self, context: ServiceContext) -> Service:
        """Return the service, not started; raises ConfigError and StartError."""


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
