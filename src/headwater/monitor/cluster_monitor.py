"""Looks at a cluster again and again, and keeps what it saw last."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import KafkaException

from headwater.clients.connection import Connection
from headwater.clients.errors import ClientError, describe
from headwater.clients.raw.cluster_reader import ClusterReader
from headwater.monitor.certificates import CertificateWatch
from headwater.monitor.disk_space import DiskSpace
from headwater.monitor.lags import lags_of
from headwater.monitor.quiet_topics import QuietTopics
from headwater.monitor.record_times import RecordTimes
from headwater.monitor.verdicts import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.metrics.cluster_state import ClusterState
    from headwater.monitor.config import MonitorConfig
    from headwater.monitor.disk_space import Disk
    from headwater.monitor.lags import PartitionLag
    from headwater.monitor.record_times import Position
    from headwater.monitor.verdicts import GroupVerdict

logger = logging.getLogger("headwater.monitor")


class Observation(NamedTuple):
    """A cluster as it was seen at some time."""

    time_s: float
    took_s: float
    cluster: ClusterState
    lags: Mapping[str, Sequence[PartitionLag]]
    times: Mapping[Position, int | None]
    verdicts: Mapping[str, GroupVerdict]
    quiet_since: Mapping[str, float]
    """Since when nothing was written to each topic."""
    disks: Sequence[Disk] = ()
    certificates: Mapping[str, float] = {}
    """When the certificate of each address expires, as `time.time` counts."""


class ClusterMonitor:
    """Watches one cluster; it may come and go."""

    def __init__(self, config: MonitorConfig) -> None:
        self.name = config.cluster_name
        self.latest: Observation | None = None
        self.failure: str | None = "the cluster has not been asked yet"
        self._interval_s = config.interval_s
        self._reader = ClusterReader(
            config.access,
            _filter(config.topic_filter, config.topic_exclude),
            _filter(config.group_filter, config.group_exclude),
        )
        self._times = RecordTimes(Connection(config.access))
        self._judge = Judge(config.window)
        self._quiet = QuietTopics()
        self._disks = DiskSpace()
        self._certificates = CertificateWatch(config.watched_certificates)
        self._task: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[], None]] = []

    def after_each_look(self, listener: Callable[[], None]) -> None:
        """Have something called after each look, in the same thread."""
        self._listeners.append(listener)

    async def start(self) -> None:
        """Look for the first time, and from now on; a cluster that is not there is told later."""
        await asyncio.to_thread(self.look)
        self._task = asyncio.create_task(self._go_on())

    async def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self.close)

    def look(self) -> None:
        """See how the cluster is now."""
        try:
            self.latest, failure = self._observe(), None
        except (ClientError, KafkaException) as problem:
            said = problem.args[0]
            self.latest, failure = None, said if isinstance(said, str) else describe(said)
        if failure is not None and failure != self.failure:
            logger.warning("cluster %s cannot be watched: %s", self.name, failure)
        elif failure is None and self.failure is not None:
            logger.info("watching cluster %s", self.name)
        self.failure = failure
        for listener in self._listeners:
            listener()

    def _observe(self) -> Observation:
        started = time.perf_counter()
        cluster = self._reader.read()
        now_s = time.time()
        lags = lags_of(cluster)
        behind = {lag.position for each in lags.values() for lag in each if lag.records}
        times = self._times.at(behind)
        verdicts = self._judge.judge(lags, round(now_s * 1000))
        quiet = self._quiet.take(cluster, now_s)
        disks = self._disks.take(cluster, now_s)
        certificates = self._certificates.look(time.monotonic())
        took_s = time.perf_counter() - started
        return Observation(
            now_s, took_s, cluster, lags, times, verdicts, quiet, disks, certificates
        )

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            try:
                # Cancelled in the middle of a look, it ends with that.
                await asyncio.shield(asyncio.to_thread(self.look))
            except Exception:
                logger.exception("cluster %s could not be looked at; trying again", self.name)

    def close(self) -> None:
        """Hang up, where no event loop looks."""
        self._reader.close()
        self._times.close()


def _filter(wanted: str, unwanted: str) -> Callable[[str], bool]:
    include, exclude = re.compile(wanted), re.compile(unwanted)
    return lambda name: bool(include.search(name)) and not exclude.search(name)
