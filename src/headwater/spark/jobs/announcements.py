"""Tells everybody at the cluster which programs run: a record for each, every few seconds.

The topic is on the cluster whose topics the program reads, so that whoever sees the cluster can see
its programs, from any machine and without a port. A program that was killed says nothing more, and
is taken for gone after `GONE_AFTER_S`; the topic keeps its records for minutes.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from headwater.clients.connection import Connection
from headwater.clients.errors import ClientError, InvalidPropertiesError, describe
from headwater.plan.errors import PlanError
from headwater.plan.pictures.topology import topology
from headwater.plan.splitting.stages import split
from headwater.spark.jobs.status import HAS_ENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from confluent_kafka import KafkaError, Producer

    from headwater.clients import ClusterAccess
    from headwater.plan.plan import Plan
    from headwater.spark.jobs.status import JobStatus

TOPIC = "_headwater_programs"
EVERY_S = 5.0
GONE_AFTER_S = 20.0
"""Who has said nothing for so long is gone."""
ANNOUNCE = "spark.headwater.announce"
"""With "false", a program does not tell that it runs."""

_TOPIC_SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "600000",
    "segment.ms": "600000",
    # So that readers compare times of one clock.
    "message.timestamp.type": "LogAppendTime",
}
_WITHIN_S = 2.0

logger = logging.getLogger("headwater.programs")


class Announcer:
    """Tells of the jobs that `jobs` returns, in a thread, until it is stopped.

    with JobHost(session) as host, Announcer(host.plans):
        host.start("alerts", app.plan(), owner="run")

    What cannot be told is logged, and harms no program.
    """

    def __init__(
        self, jobs: Callable[[], Iterable[tuple[JobStatus, Plan]]], every_s: float = EVERY_S
    ) -> None:
        self._jobs = jobs
        self._every_s = every_s
        self._stopping = threading.Event()
        self._boards: dict[str, _Board] = {}
        self._stages: dict[str, tuple[Plan, list[dict[str, Any]]]] = {}
        self._thread = threading.Thread(target=self._run, name="headwater-programs", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Say good-bye for all programs."""
        self._stopping.set()
        if not any(board.is_open for board in self._boards.values()):
            return  # nothing was said, and a cluster that nobody reaches is not to be waited for
        self._thread.join(_WITHIN_S)
        if self._thread.is_alive():
            return  # nobody answers it; our silence says the same
        for board in self._boards.values():
            board.clear()

    def _run(self) -> None:
        from confluent_kafka import KafkaException

        # A program that ends within the first interval was not worth a topic.
        while not self._stopping.wait(self._every_s):
            try:
                self._announce()
            except (
                BufferError, ClientError, InvalidPropertiesError, KafkaException, PlanError,
            ) as failure:  # fmt: skip
                logger.info("which programs run cannot be told now: %s", failure)

    def _announce(self) -> None:
        told: dict[str, dict[str, bytes]] = {address: {} for address in self._boards}
        for status, plan in self._jobs():
            if status.state in HAS_ENDED or plan.settings.spark.get(ANNOUNCE) == "false":
                continue
            access = plan.settings.cluster
            self._boards.setdefault(access.bootstrap_servers, _Board(access))
            text = json.dumps(self._described(status, plan), separators=(",", ":"))
            key = f"{status.owner}/{status.name}"
            told.setdefault(access.bootstrap_servers, {})[key] = text.encode()
        for address, records in told.items():
            self._boards[address].write(records)

    def _described(self, status: JobStatus, plan: Plan) -> dict[str, Any]:
        return {
            "name": status.name,
            "owner": status.owner,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "state": str(status.state),
            "since": status.since.isoformat(timespec="milliseconds"),
            "restarts": status.restarts,
            "slots": status.slots,
            "error": status.error,
            "guarantee": plan.settings.guarantee,
            "queries": [
                {**asdict(query), "awaits_report": query.awaits_report} for query in status.progress
            ],
            "stages": self._stages_of(status.name, plan),
        }

    def _stages_of(self, name: str, plan: Plan) -> list[dict[str, Any]]:
        known = self._stages.get(name)
        if known is None or known[0] is not plan:
            known = self._stages[name] = (plan, described_stages(plan))
        return known[1]


def described_stages(plan: Plan) -> list[dict[str, Any]]:
    """Return a plan's stages and their operators, as data for pictures."""
    return [
        {
            "name": part.stage.name,
            "operators": [
                {
                    "kind": entry.kind,
                    "id": entry.id,
                    "summary": entry.summary,
                    "topics": entry.topics,
                    "internal": entry.internal,
                    "stores": entry.stores,
                    "into": entry.successors,
                }
                for entry in part.entries
            ],
        }
        for part in topology(split(plan))
    ]


class _Board:
    """The topic on one cluster, made when it is first written to."""

    def __init__(self, access: ClusterAccess) -> None:
        self._connection = Connection(access.for_admin())
        self._producer: Producer | None = None
        self._keys: set[str] = set()
        self._is_refused = False

    @property
    def is_open(self) -> bool:
        """Whether the cluster has answered, so that there may be something to take back."""
        return self._producer is not None

    def write(self, records: dict[str, bytes]) -> None:
        """Write what runs, and take back what does no more; raises ClientError."""
        if self._is_refused or not (records or self._keys):
            return
        producer = self._opened()
        for key in self._keys - records.keys():
            producer.produce(TOPIC, None, key, on_delivery=self._delivered)
        for key, value in records.items():
            producer.produce(TOPIC, value, key, on_delivery=self._delivered)
        self._keys = set(records)
        producer.flush(_WITHIN_S)

    def clear(self) -> None:
        """Take back everything."""
        if self.is_open:
            self.write({})

    def _opened(self) -> Producer:
        if self._producer is None:
            self._make_topic()
            settings = {"compression.type": "zstd", "message.timeout.ms": 4_000}
            self._producer = self._connection.producer(settings)
        return self._producer

    def _make_topic(self) -> None:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import NewTopic

        topic = NewTopic(TOPIC, 1, config=_TOPIC_SETTINGS)
        try:
            if self._connection.find_topic(TOPIC) is None:
                self._connection.result(self._connection.admin.create_topics([topic])[TOPIC])
        except KafkaException as failure:
            error = failure.args[0]
            if error.name() == "TOPIC_ALREADY_EXISTS":
                return
            self._is_refused = _is_refusal(error)
            raise ClientError(describe(error)) from failure

    def _delivered(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self._is_refused = _is_refusal(error)
            logger.info("which programs run was not written to %s: %s", TOPIC, error)


def _is_refusal(error: KafkaError) -> bool:
    """Whether asking again is of no use, and would only fill the brokers' logs."""
    return str(error.name()).endswith("AUTHORIZATION_FAILED")
