"""What a program needs of the Kafka cluster before it starts: topics that exist."""

from __future__ import annotations

import difflib
import time
from typing import TYPE_CHECKING, Any

from headwater.client_settings import InvalidPropertiesError, to_librdkafka
from headwater.plan.errors import PlanError
from headwater.plan.nodes import Aggregate, TopicSink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from confluent_kafka import KafkaError

    from headwater.plan.plan import Plan
    from headwater.plan.stages import Stage

_ANSWER_WITHIN_S = 30.0
_LOOK_EVERY_S = 1.0
_LAG_WITHIN_S = 2.0
# No use in trying again: the broker answered, and will not let this client in.
_HOPELESS = ("_AUTHENTICATION", "_SSL", "SASL_AUTHENTICATION_FAILED")
# An internal topic spreads the work between two stages; more partitions than this cost more in
# small batches than they bring on one machine.
_INTERNAL_PARTITIONS = 4


class ClusterUnreachable(Exception):  # noqa: N818 - says what is the case, as JavaNotFound does
    """No broker answered, or none with what a program needs."""


class Cluster:
    """The cluster of one program."""

    def __init__(self, bootstrap_servers: str, kafka: Mapping[str, str]) -> None:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        self._servers = bootstrap_servers
        self._error: KafkaError | None = None
        settings: dict[str, Any] = {**_librdkafka(kafka), "bootstrap.servers": bootstrap_servers}
        try:
            self._admin: Any = AdminClient(settings | {"log_level": 0, "error_cb": self._remember})
        except (KafkaException, ValueError) as failure:
            raise ClusterUnreachable(
                f"the settings of Kafka's clients were refused: {failure.args[0]}"
            ) from None

    def partitions(self) -> dict[str, int]:
        """Return how many partitions each topic has."""
        metadata = self._metadata()
        return {name: len(topic.partitions) for name, topic in metadata.topics.items()}

    @property
    def id(self) -> str | None:
        """What the cluster calls itself; None where it has no name."""
        return str(self._metadata().cluster_id or "") or None

    def prepare(self, plan: Plan, stages: Iterable[Stage]) -> tuple[dict[str, int], list[str]]:
        """Refuse unknown input topics, create missing output topics.

        Returns the partitions of all topics, and the names of those that were made.
        """
        known = self.partitions()
        written = _written(plan)
        for source in plan.sources():
            for topic in source.topics:
                if topic not in known and topic not in written:
                    raise PlanError(_unknown(topic, known), source.location)
        missing = [topic for topic in written if topic not in known]
        read = [topic for source in plan.sources() for topic in source.topics]
        widest = max((known.get(topic, 1) for topic in read), default=1)
        internal = [
            topic for stage in stages for topic in stage.internal_topics if topic not in known
        ]
        # -1 is the broker's own default.
        self._create(dict.fromkeys(missing, -1))
        self._create(dict.fromkeys(internal, min(widest, _INTERNAL_PARTITIONS)))
        made = [*missing, *internal]
        return (self.partitions() if made else known), made

    def check_starts(self, plan: Plan) -> None:
        """Refuse to begin at offsets that the topics do not have.

        Raises PlanError, and ClusterUnreachable where no broker says which they have.
        """
        known = self.partitions()
        for source in plan.sources():
            for topic, offsets in source.start.offsets.items():
                if topic in known:
                    self._check_start(topic, offsets, known[topic], source.location)

    def _check_start(
        self, topic: str, offsets: Mapping[int, int], partitions: int, location: str
    ) -> None:
        for partition in offsets:
            if partition >= partitions:
                count = "one partition, 0" if partitions == 1 else f"{partitions} partitions"
                raise PlanError(
                    f"start names the partition {partition} of {topic!r}, which has {count}: "
                    "leave it out",
                    location,
                )
        first, last = (self._offsets(topic, offsets, end) for end in ("earliest", "latest"))
        for partition, offset in offsets.items():
            if not first[partition] <= offset <= last[partition]:
                raise PlanError(
                    f"start names the offset {offset} of {topic} [{partition}], which has "
                    f"{first[partition]} to {last[partition]}: name one of these, or begin at "
                    "'earliest', 'latest' or a time",
                    location,
                )

    def _offsets(self, topic: str, partitions: Iterable[int], end: str) -> dict[int, int]:
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        # As Spark will see it: what is not committed yet is not there.
        answers = self._admin.list_offsets(
            {TopicPartition(topic, each): getattr(OffsetSpec, end)() for each in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED,
        )
        try:
            return {
                where.partition: int(answer.result(_ANSWER_WITHIN_S).offset)
                for where, answer in answers.items()
            }
        except (KafkaException, TimeoutError) as failure:
            why = failure.args[0].str() if isinstance(failure, KafkaException) else "no answer"
            raise ClusterUnreachable(
                f"the offsets of {topic!r}, where start= names some, cannot be read from "
                f"{self._servers} ({why}). Is a broker away, or may this user not describe the "
                "topic? Try again when it can"
            ) from failure

    def behind(self, read_to: Mapping[tuple[str, int], int]) -> int | None:
        """Return how many records follow these offsets; None where no broker says so soon."""
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        asked = {TopicPartition(*place): OffsetSpec.latest() for place in read_to}
        if not asked:
            return 0
        answers = self._admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=_LAG_WITHIN_S
        )
        try:
            ends = {
                (place.topic, place.partition): int(answer.result().offset)
                for place, answer in answers.items()
            }
        except KafkaException:
            return None
        return sum(max(0, end - read_to[place]) for place, end in ends.items())

    def _metadata(self) -> Any:
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + _ANSWER_WITHIN_S
        while True:
            try:
                return self._admin.list_topics(timeout=_LOOK_EVERY_S)
            except KafkaException as failure:
                # The reason comes on its own way, and only now.
                self._admin.poll(0)
                error = self._error or failure.args[0]
            if error.name() in _HOPELESS:
                raise ClusterUnreachable(
                    f"{self._servers} refused the connection: {error.str()}. Security settings "
                    "are given with --command-config, or with App(kafka=...)"
                )
            if time.monotonic() > deadline:
                raise ClusterUnreachable(
                    f"no broker answered at {self._servers} ({error.str()}). Is it running? "
                    "Start one with: headwater up"
                )

    def _remember(self, error: KafkaError) -> None:
        # "All brokers are down" follows the error that says why.
        if error.name() != "_ALL_BROKERS_DOWN":
            self._error = error

    def _create(self, topics: Mapping[str, int]) -> None:
        from confluent_kafka.admin import NewTopic

        if not topics:
            return
        wanted = [
            NewTopic(name, num_partitions=count, replication_factor=-1)
            for name, count in topics.items()
        ]
        for name, future in self._admin.create_topics(wanted).items():
            try:
                future.result(_ANSWER_WITHIN_S)
            except Exception as failure:
                if "TOPIC_ALREADY_EXISTS" not in str(failure):
                    raise PlanError(f"the topic {name!r} cannot be created: {failure}") from failure


def _written(plan: Plan) -> list[str]:
    names: dict[str, None] = {}
    for node in plan.walk():
        if isinstance(node, TopicSink) and isinstance(node.topic, str):
            names[node.topic] = None
        if isinstance(node, Aggregate) and node.late_to is not None:
            names[node.late_to] = None
    for source in plan.sources():
        if source.on_broken.dead_letter_topic is not None:
            names[source.on_broken.dead_letter_topic] = None
    return list(names)


def _unknown(topic: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(topic, sorted(known), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"headwater topics create {topic}"
    return f"there is no topic {topic!r} to read from: {hint}"


def _librdkafka(kafka: Mapping[str, str]) -> dict[str, str]:
    """Take what lets a client in; the rest is meant for the clients that read and write."""
    of_security = {
        name: value
        for name, value in kafka.items()
        if name == "client.id" or name.partition(".")[0] in ("security", "sasl", "ssl")
    }
    try:
        return to_librdkafka(of_security)
    except InvalidPropertiesError as failure:
        raise ClusterUnreachable(f"the settings of Kafka's clients: {failure}") from None
