"""Connections to a cluster: confluent-kafka's clients, and waiting that Ctrl-C can end."""

from __future__ import annotations

import re
import time
from concurrent.futures import FIRST_COMPLETED
from concurrent.futures import wait as wait_for_futures
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from headwater.clients.errors import (
    ClientError,
    InvalidPropertiesError,
    InvalidTopicNameError,
    RefusedError,
    UnknownTopicError,
    UnreachableError,
    cause_of,
    describe,
)
from headwater.clients.producing import telling_why
from headwater.clients.retries import ATTEMPT_WITHIN_S, HOPELESS, PASSING, RETRY_WITHIN_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from confluent_kafka import Consumer, KafkaError, Producer
    from confluent_kafka.admin import AdminClient, OffsetSpec, TopicDescription

    from headwater.clients.cluster_access import ClusterAccess

Result = TypeVar("Result")

CONNECT_WITHIN_S = 5.0
REQUEST_WITHIN_S = 30.0
# confluent-kafka blocks in C, where Python cannot see Ctrl-C; no single call may last longer.
POLL_S = 0.1

# Requests for "the controller" go to a broker that the last metadata has named. If that one died,
# librdkafka waits for the next metadata, which by default comes after five minutes.
REFRESH_MS = 1000


@dataclass
class Connection:
    """Makes confluent-kafka's clients of one cluster, and asks it what many want to know.

    The admin client is handed out once a broker has answered, so that whoever wants something
    fails early and says why. What fails is a ClientError, where it is not KafkaException.
    """

    access: ClusterAccess
    _admin: AdminClient | None = field(default=None, init=False)
    _reason: KafkaError | None = field(default=None, init=False)

    @property
    def bootstrap_servers(self) -> str:
        """Where the cluster is."""
        return self.access.bootstrap_servers

    @property
    def admin(self) -> AdminClient:
        """The admin client."""
        if self._admin is None:
            from confluent_kafka.admin import AdminClient

            refresh = {"topic.metadata.refresh.interval.ms": REFRESH_MS}
            admin = self._make(AdminClient, self.access.librdkafka(), refresh)
            self._wait_for_broker(admin)
            self._admin = admin
        return self._admin

    def producer(self, settings: Mapping[str, Any]) -> Producer:
        """Return a producer with these librdkafka settings on top of the connection's own.

        Keys go where Java's clients put them, and what the broker refuses is reported as it says
        it, unless the settings want it otherwise.
        """
        from confluent_kafka import Producer

        return self._make(Producer, {}, telling_why({**self.access.producer(), **settings}))

    def consumer(self, settings: Mapping[str, Any]) -> Consumer:
        """Return a consumer with these librdkafka settings on top of the connection's own."""
        from confluent_kafka import Consumer

        # librdkafka insists on a group id, also for one who only assigns and never commits.
        defaults = {"group.id": "headwater-cli", "enable.auto.commit": False}
        return self._make(Consumer, self.access.librdkafka(), {**defaults, **settings})

    def result(self, future: Future[Result], within_s: float = REQUEST_WITHIN_S) -> Result:
        """Wait for an admin request; raises KafkaException as the client does."""
        deadline = time.monotonic() + within_s
        while not future.done():
            if time.monotonic() > deadline:
                raise ClientError(
                    f"{self.bootstrap_servers} did not answer within {within_s:g} s. "
                    "Look at the broker's log"
                )
            wait_for_futures([future], timeout=POLL_S, return_when=FIRST_COMPLETED)
            if self._admin is not None:
                self._admin.poll(0)
        return future.result()

    def topic_names(self) -> list[str]:
        """Return the names of all topics, internal ones included, sorted."""
        return sorted(call(lambda: self.admin.list_topics(timeout=REQUEST_WITHIN_S)).topics)

    def describe_topic(self, topic: str) -> TopicDescription:
        """Return a topic's id, partitions and replicas; raises UnknownTopicError."""
        (described,) = self.describe_topics([topic])
        return described

    def describe_topics(self, topics: Sequence[str]) -> list[TopicDescription]:
        """Describe several topics with one request; raises UnknownTopicError for a missing one."""
        described = [(topic, self._described(future)) for topic, future in self._ask(topics)]
        for topic, found in described:
            if found is None:
                raise UnknownTopicError(topic, self.topic_names())
        return [found for _, found in described if found is not None]

    def find_topic(self, topic: str) -> TopicDescription | None:
        """Return a topic's description, or None where there is none; never creates it."""
        ((_, future),) = self._ask([topic])
        return self._described(future)

    def offsets(
        self, partitions: Sequence[tuple[str, int]], spec: OffsetSpec
    ) -> dict[tuple[str, int], int]:
        """Ask for one offset of each (topic, partition): the earliest, the latest, or by time."""
        from confluent_kafka import KafkaException, TopicPartition

        found: dict[tuple[str, int], int] = {}
        deadline = time.monotonic() + RETRY_WITHIN_S
        # A leader that has just died does not answer, and soon another one leads.
        while left := [partition for partition in partitions if partition not in found]:
            asked = {TopicPartition(*partition): spec for partition in left}
            answers = self.admin.list_offsets(asked, request_timeout=ATTEMPT_WITHIN_S)
            for partition, future in answers.items():
                try:
                    offset = self.result(future).offset
                except KafkaException as failure:
                    if failure.args[0].name() not in PASSING or time.monotonic() > deadline:
                        raise
                else:
                    found[partition.topic, partition.partition] = offset
        return found

    def _ask(self, topics: Sequence[str]) -> list[tuple[str, Future[TopicDescription]]]:
        from confluent_kafka import TopicCollection

        names = TopicCollection([check_topic_name(topic) for topic in topics])
        return list(self.admin.describe_topics(names).items()) if topics else []

    def _described(self, future: Future[TopicDescription]) -> TopicDescription | None:
        from confluent_kafka import KafkaException

        try:
            return self.result(future)
        except KafkaException as failure:
            if failure.args[0].name() == "UNKNOWN_TOPIC_OR_PART":
                return None
            raise

    def _make(
        self,
        kind: Callable[[dict[str, Any]], Result],
        access: Mapping[str, Any],
        settings: Mapping[str, Any],
    ) -> Result:
        from confluent_kafka import KafkaException

        everything: dict[str, Any] = {
            "client.id": "headwater",
            "error_cb": self._remember,
            **access,
            **settings,
        }
        if "debug" not in everything:
            # What librdkafka has to say reaches the user through errors; its log is for debugging.
            everything.setdefault("log_level", 0)
        try:
            return kind(everything)
        except (KafkaException, ValueError, TypeError) as failure:
            error = failure.args[0]
            text = describe(error) if isinstance(failure, KafkaException) else str(error)
            raise InvalidPropertiesError(f"the client settings were refused: {text}") from None

    def _remember(self, error: KafkaError) -> None:
        # "All brokers are down" follows the error that says why.
        if error.name() != "_ALL_BROKERS_DOWN":
            self._reason = error

    def _wait_for_broker(self, admin: AdminClient) -> None:
        from confluent_kafka import KafkaException

        # Any broker answers this. What goes to "the controller" may be sent to one that has just
        # died, for as long as the cluster has not noticed; that is worth waiting for, later.
        future = _in_thread(lambda: admin.list_topics(timeout=CONNECT_WITHIN_S))
        while not future.done():
            wait_for_futures([future], timeout=POLL_S)
            admin.poll(0)
            if self._reason is not None and self._reason.name() in HOPELESS:
                raise RefusedError(self.bootstrap_servers, cause_of(self._reason))
        try:
            future.result()
        except KafkaException as failure:
            if failure.args[0].name() not in ("_TIMED_OUT", "_TRANSPORT"):
                raise
            reason = cause_of(self._reason) if self._reason is not None else None
            raise UnreachableError(self.bootstrap_servers, CONNECT_WITHIN_S, reason) from None


def check_topic_name(topic: str) -> str:
    """Raise InvalidTopicNameError for what Kafka would refuse, before a client waits in vain."""
    if topic in ("", ".", "..") or len(topic) > 249 or not re.fullmatch(r"[a-zA-Z0-9._-]+", topic):
        raise InvalidTopicNameError(topic)
    return topic


def call(blocking: Callable[[], Result]) -> Result:
    """Make a call that blocks in C, in a thread of its own, so that Ctrl-C still works."""
    return _in_thread(blocking).result()


def _in_thread(blocking: Callable[[], Result]) -> Future[Result]:
    from concurrent.futures import Future
    from threading import Thread

    future: Future[Result] = Future()

    def work() -> None:
        try:
            future.set_result(blocking())
        except BaseException as failure:
            future.set_exception(failure)

    Thread(target=work, daemon=True).start()
    return future
