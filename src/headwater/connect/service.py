"""Connect as a service that needs Spark; `headwater up` and `headwater connect` run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.settings import CONNECT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Values
    from headwater.http.service_process import Service
    from headwater.spark_services.spark_service import ServiceContext


# A worker waits most of the time, and then needs no more of its heap than it has live. A collector
# that takes several threads, and gives nothing back, doubled its memory at the same CPU time.
SPARK_ALONE: Mapping[str, str] = {
    "spark.driver.defaultJavaOptions": (
        "-XX:+UseSerialGC -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40"
    )
}
"""Spark's settings for a process that is a worker and nothing else."""


class ConnectWorker:
    """A worker; Spark is started by the first connector that has something to do."""

    name = "connect"
    definitions = CONNECT_SETTINGS

    def __init__(self, only: Mapping[str, Mapping[str, str]] | None = None) -> None:
        """Make one that shares connectors with its group, or has `only` these."""
        self._only = only

    def check(self, settings: Values) -> None:
        """Refuse nothing: each setting is checked by itself."""

    def build(self, context: ServiceContext) -> Service:
        """Return the worker, not started; raises ConfigError and StartError."""
        from headwater.connect.worker.config import WorkerConfig
        from headwater.connect.worker.instance import Instance
        from headwater.connect.worker.spark_session import ConnectSession
        from headwater.connect.worker.tasks import Tasks

        config = WorkerConfig.of(context.settings, context.cluster, context.url)
        session = ConnectSession(context.jobs.session)
        return Instance(config, context.listener, Tasks(config, session.get).open, self._only)


CONNECT = ConnectWorker()
