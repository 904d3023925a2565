"""The process of Spark services: an HTTP server for each, and one host of jobs between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.config import ConfigError
from headwater.http.errors import StartError
from headwater.http.service_process import Place, run_together
from headwater.plan.splitting.roads import REAL_TIME
from headwater.spark.jobs.announcements import Announcer
from headwater.spark.jobs.host import JobHost
from headwater.spark.jobs.slots import TASK_SLOTS, knows_slots
from headwater.spark.shared_session import SharedSession
from headwater.spark_services.spark_service import ServiceContext, read_settings

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

    from headwater.clients import ClusterAccess
    from headwater.config import Values
    from headwater.config.given import Given
    from headwater.http.listener_settings import ListenerConfig
    from headwater.http.service_process import Service
    from headwater.spark_services.spark_service import SparkService

# For dozens of small queries in real-time mode. Slots are threads, made when they are used.
_SLOTS = {TASK_SLOTS: "128"}


@dataclass(frozen=True)
class HostedService:
    """A service of this process: where it listens, and the settings that it was given."""

    service: SparkService
    host: str
    port: int
    given: Given


def run(
    services: Sequence[HostedService],
    cluster: ClusterAccess,
    conf: Mapping[str, str],
    master: str | None = None,
) -> int:
    """Serve all services until SIGINT or SIGTERM and return the exit code.

    `conf` has settings of Spark's session, and `master` is the cluster that it is on, if it is not
    this machine. Its JVM is started by the first job, and stopped with all jobs when the services
    are. If one cannot start, none does, and the log says which it is.
    """
    defaults = _SLOTS if master is None else _on_cluster(conf)
    jobs = JobHost(SharedSession("headwater", master=master, conf={**defaults, **conf}))
    try:
        with Announcer(jobs.plans):
            return run_together([_place(each, cluster, jobs) for each in services])
    finally:
        jobs.stop_all()


def _on_cluster(conf: Mapping[str, str]) -> dict[str, str]:
    """Return what holds on a cluster: real-time mode needs to know how many tasks it can run."""
    return {} if knows_slots(conf) else {REAL_TIME: "false"}


def _place(hosted: HostedService, cluster: ClusterAccess, jobs: JobHost) -> Place:
    service = hosted.service

    def read() -> tuple[Values, ListenerConfig]:
        try:
            return read_settings(service, hosted.given)
        except ConfigError as failure:
            raise StartError(hosted.given.explain(failure)) from failure

    def tls() -> ssl.SSLContext | None:
        _, listener = read()
        return listener.tls()

    def build(url: str) -> Service:
        settings, listener = read()
        try:
            return service.build(ServiceContext(url, settings, listener, cluster, jobs))
        except ConfigError as failure:
            raise StartError(hosted.given.explain(failure)) from failure

    return Place(build, hosted.host, hosted.port, tls, service.name)
