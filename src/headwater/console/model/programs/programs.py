"""The programs that run on the cluster, as they tell of themselves in a topic.

Each writes a record every few seconds: what it computes, and how it does. Who has been silent for a
while is gone, whether it was stopped or killed (docs/pipelines.md has the format).
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.clients.errors import ClientError
from headwater.clients.start_position import StartPosition
from headwater.console.model.records.record_windows import Window, WindowReading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from confluent_kafka import Message

    from headwater.console.model.cluster import Cluster

TOPIC = "_headwater_programs"
GONE_AFTER_S = 20.0
# A record that is older by the clocks of the brokers tells of nothing that still runs.
_FIRST_LOOK_S = 60.0
_LOOK_AFTER_S = 2.0
_READ_WITHIN_S = 5.0
_RUNNING = ("running", "catching up", "real-time")


class ProgramQuery(NamedTuple):
    """One of Spark's queries, which computes a stage of a program, or a part of one."""

    name: str
    stage: str
    state: str
    why_micro_batches: str
    rows: int | None
    """These and all below are None where nothing was reported yet."""
    rows_per_s: float | None
    lag: int | None
    lags: Mapping[str, int]
    state_rows: int | None
    state_bytes: int | None
    late_rows: int | None
    batch_ms: int | None
    restarts: int
    failure: str

    @property
    def road(self) -> str:
        """How it goes through Spark."""
        if self.why_micro_batches:
            return "micro-batches"
        return "catching up" if self.state == "catching up" else "real-time"


class Operator(NamedTuple):
    """A step of a program."""

    kind: str
    id: str
    summary: str
    topics: tuple[str, ...]
    stores: tuple[str, ...]
    into: tuple[str, ...]


class Stage(NamedTuple):
    """Steps that are computed together."""

    name: str
    operators: tuple[Operator, ...]


@dataclass(frozen=True)
class Program:
    """A program that runs, as it was a few seconds ago."""

    name: str
    owner: str
    """run for `headwater run`, sql for a query of a SQL server."""
    host: str
    pid: int
    state: str
    since: str
    restarts: int
    error: str
    guarantee: str
    queries: tuple[ProgramQuery, ...]
    stages: tuple[Stage, ...]

    @property
    def rows_per_s(self) -> float | None:
        """Rows read in a second, by all of its queries that run."""
        known = [each.rows_per_s for each in self.queries if each.rows_per_s is not None]
        return sum(known) if known else None

    @property
    def lag(self) -> int | None:
        """Records that were not read yet."""
        known = [each.lag for each in self.queries if each.lag is not None]
        return sum(known) if known else None

    @property
    def state_rows(self) -> int | None:
        """Rows in state."""
        known = [each.state_rows for each in self.queries if each.state_rows is not None]
        return sum(known) if known else None

    @property
    def roads(self) -> list[str]:
        """The ways that its queries take through Spark."""
        return sorted({each.road for each in self.queries})

    @property
    def query_id(self) -> str:
        """Of a query of a SQL server, its id there."""
        return self.name.rpartition("query_")[2]


class Programs:
    """Follows the topic while somebody looks. All methods block."""

    def __init__(self, cluster: Cluster, gone_after_s: float = GONE_AFTER_S) -> None:
        self._cluster = cluster
        self._gone_after_s = gone_after_s
        self._lock = threading.Lock()
        self._at: int | None = None
        self._looked = 0.0
        self._heard: dict[str, tuple[float, Program]] = {}
        """By key: when it was last heard of, by our own clock, and what it said."""

    def all(self) -> list[Program]:
        """Return what runs; raises ClientError."""
        with self._lock:
            if time.monotonic() - self._looked > _LOOK_AFTER_S:
                self._read()
                self._looked = time.monotonic()
            oldest = time.monotonic() - self._gone_after_s
            self._heard = {key: each for key, each in self._heard.items() if each[0] > oldest}
            return sorted(
                (program for _, program in self._heard.values()), key=lambda each: each.name
            )

    def find(self, owner: str, name: str) -> Program:
        """Return a program; raises ClientError where none of this name runs."""
        for each in self.all():
            if (each.owner, each.name) == (owner, name):
                return each
        raise ClientError(
            f"no program '{name}' runs now; one that ended or was killed is shown for "
            f"{self._gone_after_s:g} s"
        )

    def _read(self) -> None:
        connection = self._cluster.connection
        if TOPIC not in self._cluster.look().topics:
            self._heard.clear()
            return
        first_ms = int((time.time() - _FIRST_LOOK_S) * 1000)
        span = StartPosition("time", first_ms).resolve(connection, TOPIC, [0])[0]
        start = span.start
        # What is new since the last look, unless the topic was made anew meanwhile.
        if self._at is not None and span.first <= self._at <= span.end:
            start = self._at
        window = Window(start, span.end)
        if window:
            settings = {"enable.partition.eof": True, "auto.offset.reset": "earliest"}
            reading = WindowReading(TOPIC, {0: window}, time.monotonic() + _READ_WITHIN_S)
            with closing(connection.consumer(settings)) as consumer:
                for message in reading.messages(consumer):
                    self._take(message, is_first=self._at is None)
        self._at = span.end

    def _take(self, message: Message, *, is_first: bool) -> None:
        key, value = (message.key() or b"").decode("utf-8", "replace"), message.value()
        if value is None:
            self._heard.pop(key, None)
            return
        # Clocks of machines differ, so what comes while we look is as old as it came.
        age = time.time() - message.timestamp()[1] / 1000 if is_first else 0.0
        try:
            program = read_program(value)
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # whoever wrote it, it tells of no program
        self._heard[key] = (time.monotonic() - max(age, 0.0), program)


def read_program(value: bytes) -> Program:
    """Read a record of the topic; raises ValueError, KeyError and their like for anything else."""
    told: dict[str, Any] = json.loads(value)
    return Program(
        str(told["name"]),
        str(told["owner"]),
        str(told["host"]),
        int(told["pid"]),
        str(told["state"]),
        str(told["since"]),
        int(told["restarts"]),
        str(told["error"]),
        str(told["guarantee"]),
        tuple(_query(each) for each in told["queries"]),
        tuple(
            Stage(str(each["name"]), tuple(map(_operator, each["operators"])))
            for each in told["stages"]
        ),
    )


def _query(told: dict[str, Any]) -> ProgramQuery:
    is_known = not told["awaits_report"]

    def number(name: str) -> int | None:
        return int(told[name]) if is_known else None

    runs = told["state"] in _RUNNING
    return ProgramQuery(
        str(told["name"]),
        str(told["stage"]),
        str(told["state"]),
        str(told["why_micro_batches"]),
        number("rows"),
        (float(told["rows_per_second"]) if runs else 0.0) if is_known else None,
        number("lag"),
        {str(topic): int(lag) for topic, lag in told["lags"].items()} if is_known else {},
        number("state_rows"),
        number("state_bytes"),
        number("late_rows"),
        number("batch_ms"),
        int(told["restarts"]),
        str(told["failure"]),
    )


def _operator(told: dict[str, Any]) -> Operator:
    return Operator(
        str(told["kind"]), str(told["id"]), str(told["summary"]),
        *(_words(told[name]) for name in ("topics", "stores", "into")),
    )  # fmt: skip


def _words(told: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(each) for each in told)
