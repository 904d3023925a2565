"""A process of guests: an HTTP server for each, and one host of jobs between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.config import ConfigError, Values
from headwater.guests.guest import Room
from headwater.http.errors import StartError
from headwater.http.service_process import Place, run_together
from headwater.spark.jobs.host import JobHost
from headwater.spark.jobs.slots import TASK_SLOTS
from headwater.spark.shared_session import SharedSession

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients import ClusterAccess
    from headwater.config.given import Given
    from headwater.guests.guest import Guest
    from headwater.http.service_process import Service

# For dozens of small queries in real-time mode. Slots are threads, made when they are used.
_SLOTS = {TASK_SLOTS: "128"}


@dataclass(frozen=True)
class Seat:
    """Where a guest listens, and what it was given."""

    guest: Guest
    host: str
    port: int
    given: Given


def run(seats: Sequence[Seat], cluster: ClusterAccess, conf: Mapping[str, str]) -> int:
    """Serve all guests until SIGINT or SIGTERM and return the exit code.

    `conf` has settings of Spark's session. Its JVM is started by the first job, and stopped with
    all jobs when the guests are. If a guest cannot start, none does, and the log says which it is.
    """
    jobs = JobHost(SharedSession("headwater", conf={**_SLOTS, **conf}))
    try:
        return run_together([_place(seat, cluster, jobs) for seat in seats])
    finally:
        jobs.stop_all()


def _place(seat: Seat, cluster: ClusterAccess, jobs: JobHost) -> Place:
    def build(url: str) -> Service:
        guest = seat.guest
        try:
            settings = Values(guest.definitions, seat.given)
            return guest.build(Room(url, settings, cluster, jobs))
        except ConfigError as failure:
            raise StartError(seat.given.explain(failure)) from failure

    return Place(build, seat.host, seat.port, name=seat.guest.name)
