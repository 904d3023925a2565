"""Task slots: what real-time mode holds of them all the time, and who holds those that there are.

A query in real-time mode runs its tasks without end: one for each partition that it reads, and one
for each partition of a shuffle, all at once. Micro-batches come and go, and share what is left.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.splitting.stages import Stage

TASK_SLOTS = "spark.headwater.taskSlots"
"""Sets how many slots a session on this machine has."""

SPARE_SLOTS = 4
"""Slots that nobody may hold all the time, so that micro-batches go on."""


class NotEnoughSlots(Exception):  # noqa: N818 - what is the matter, as a caller reads it
    """A job would need more task slots than are free; the message says who holds them."""


@dataclass(frozen=True)
class Holding:
    """What one job holds."""

    owner: str
    slots: int


def knows_slots(conf: Mapping[str, str]) -> bool:
    """Tell whether the settings of a session on a cluster say how many tasks can run at once."""
    by_executor = ("spark.executor.instances", "spark.executor.cores")
    return "spark.cores.max" in conf or all(name in conf for name in by_executor)


def slots_needed(stage: Stage, partitions: Mapping[str, int], shuffle_partitions: int) -> int:
    """Return how many slots a query of this stage holds in real-time mode."""
    reading = sum(partitions[topic] for topic in stage.topics_read)
    return reading + shuffle_partitions * sum(node.shuffles for node in stage.stateful)


class TaskSlots:
    """The slots of one session, counted over all jobs; from any thread.

    >>> slots = TaskSlots(24)
    >>> slots.take("counts", "sql", 18)
    >>> slots.free
    2
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._holdings: dict[str, Holding] = {}
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """How many tasks can run at once."""
        return self._total

    @total.setter
    def total(self, slots: int) -> None:
        self._total = slots

    @property
    def holdings(self) -> dict[str, Holding]:
        """What each job holds."""
        with self._lock:
            return dict(self._holdings)

    @property
    def free(self) -> int:
        """How many can still be held."""
        with self._lock:
            return self._free()

    def take(self, job: str, owner: str, needed: int) -> None:
        """Give a job its slots, instead of those that it has; raises NotEnoughSlots."""
        with self._lock:
            before = self._holdings.pop(job, None)
            free = self._free()
            if needed > free:
                refusal = self._refusal(job, needed, free)
                if before is not None:
                    self._holdings[job] = before
                raise NotEnoughSlots(refusal)
            if needed:
                self._holdings[job] = Holding(owner, needed)

    def release(self, job: str) -> None:
        """Take a job's slots back, if it has any."""
        with self._lock:
            self._holdings.pop(job, None)

    def _free(self) -> int:
        held = sum(holding.slots for holding in self._holdings.values())
        return max(0, self._total - SPARE_SLOTS - held)

    def _refusal(self, job: str, needed: int, free: int) -> str:
        holders = [
            f"{name!r} (of {holding.owner}) holds {holding.slots}"
            for name, holding in sorted(self._holdings.items())
        ]
        kept = f"{SPARE_SLOTS} are kept for micro-batches"
        advice = [
            f"give Spark at least {self._total - free + needed} slots with {TASK_SLOTS} (on one "
            "machine they are threads, and may be many more than cores)",
            "let it run in micro-batches with spark.headwater.realTime=false",
        ]
        if holders:
            advice.insert(0, "stop one of these")
        all_of_it = "; or ".join(advice)
        return (
            f"the job {job!r} needs {needed} task slots in real-time mode, one for each partition "
            f"that it reads or shuffles, and {free} of {self._total} are free: "
            f"{', '.join([*holders, kept])}. {all_of_it[0].upper()}{all_of_it[1:]}"
        )
