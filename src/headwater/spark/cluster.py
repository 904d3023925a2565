"""What a program needs of the Kafka cluster before it starts: topics that exist."""

from __future__ import annotations

import difflib
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from headwater.clients.connection import REQUEST_WITHIN_S, Connection
from headwater.clients.errors import ClientError, describe
from headwater.plan.errors import PlanError
from headwater.plan.nodes import StoreSink, TopicSink
from headwater.plan.splitting.stages import is_internal
from headwater.spark.progress_topic import PROGRESS_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater.clients import ClusterAccess
    from headwater.plan.plan import Plan
    from headwater.plan.splitting.stages import Stage

_LAG_WITHIN_S = 2.0
_LOOK_AGAIN_S = 0.1
# An internal topic spreads the work between two stages; more partitions than this cost more in
# small batches than they bring on one machine.
_INTERNAL_PARTITIONS = 4
# Little is ever read from a topic of which only the last records count, if it is cleaned often.
_LAST_OF_EACH = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
}


class Cluster:
    """The cluster of one program."""

    def __init__(self, access: ClusterAccess) -> None:
        self._connection = Connection(access.for_admin())

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
        for failure in _unknown_sources(plan, known):
            raise failure
        written = _written(plan)
        missing = [topic for topic in written if topic not in known]
        read = [topic for source in plan.topic_sources() for topic in source.topics]
        widest = max((known.get(topic, 1) for topic in read), default=1)
        internal = [
            topic for stage in stages for topic in stage.internal_topics if topic not in known
        ]
        # -1 is the broker's own default.
        self._create(dict.fromkeys(missing, -1), _compacted(plan))
        self._create(dict.fromkeys(internal, min(widest, _INTERNAL_PARTITIONS)))
        batches = {
            node.batches: 1
            for node in plan.walk()
            if isinstance(node, StoreSink) and node.batches not in known
        }
        self._create(batches, dict.fromkeys(batches, _LAST_OF_EACH))
        if plan.settings.from_topics and PROGRESS_TOPIC not in known:
            self._create({PROGRESS_TOPIC: 1}, {PROGRESS_TOPIC: _LAST_OF_EACH})
        made = [*missing, *internal, *batches]
        return (self.partitions() if made else known), made

    def delete_internal(self, app: str) -> list[str]:
        """Delete the topics between an app's stages, those of earlier versions too; returns them.

        Whoever asks next does not find them any more.
        """
        found = [name for name in self.partitions() if is_internal(name, app)]
        for name, future in self._connection.admin.delete_topics(found).items() if found else ():
            try:
                future.result(REQUEST_WITHIN_S)
            except Exception as failure:
                raise ClientError(f"the topic {name!r} cannot be deleted: {failure}") from failure
        deadline = time.monotonic() + REQUEST_WITHIN_S
        while left := set(found).intersection(self.partitions()):
            if time.monotonic() > deadline:
                raise ClientError(f"{', '.join(sorted(left))} are still there: try again later")
            time.sleep(_LOOK_AGAIN_S)
        return found

    def missing_sources(self, plan: Plan) -> list[PlanError]:
        """Return what `prepare` would refuse: topics that are read, and that nobody has."""
        return list(_unknown_sources(plan, self.partitions()))

    def check_starts(self, plan: Plan) -> None:
        """Refuse to begin at offsets that the topics do not have.

        Raises PlanError, and ClientError where no broker says which they have.
        """
        known = self.partitions()
        for source in plan.topic_sources():
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
        answers = self._connection.admin.list_offsets(
            {TopicPartition(topic, each): getattr(OffsetSpec, end)() for each in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED,
        )
        try:
            return {
                where.partition: int(answer.result(REQUEST_WITHIN_S).offset)
                for where, answer in answers.items()
            }
        except (KafkaException, TimeoutError) as failure:
            why = failure.args[0].str() if isinstance(failure, KafkaException) else "no answer"
            raise ClientError(
                f"the offsets of {topic!r}, where start= names some, cannot be read from "
                f"{self._connection.bootstrap_servers} ({why}). Is a broker away, or may this "
                "user not describe the topic? Try again when it can"
            ) from failure

    def earliest(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return where partitions begin by now; raises ClientError where no broker says so."""
        from confluent_kafka.admin import OffsetSpec

        return self._connection.offsets([*places], OffsetSpec.earliest())

    def behind(self, read_to: Mapping[tuple[str, int], int]) -> dict[str, int] | None:
        """Return how many records follow these offsets, by topic; None where none says so."""
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        asked = {TopicPartition(*place): OffsetSpec.latest() for place in read_to}
        if not asked:
            return {}
        try:
            answers = self._connection.admin.list_offsets(
                asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=_LAG_WITHIN_S
            )
            ends = {
                (place.topic, place.partition): int(answer.result().offset)
                for place, answer in answers.items()
            }
        except (ClientError, KafkaException):
            return None
        lags: dict[str, int] = {}
        for place, end in ends.items():
            lags[place[0]] = lags.get(place[0], 0) + max(0, end - read_to[place])
        return lags

    def _metadata(self) -> Any:
        from confluent_kafka import KafkaException

        try:
            return self._connection.admin.list_topics(timeout=REQUEST_WITHIN_S)
        except KafkaException as failure:
            raise ClientError(
                f"{self._connection.bootstrap_servers} does not say which topics there are: "
                f"{describe(failure.args[0])}"
            ) from failure

    def _create(
        self,
        topics: Mapping[str, int],
        configs: Mapping[str, dict[str, str]] = MappingProxyType({}),
    ) -> None:
        from confluent_kafka.admin import NewTopic

        if not topics:
            return
        wanted = [
            NewTopic(
                name, num_partitions=count, replication_factor=-1, config=configs.get(name, {})
            )
            for name, count in topics.items()
        ]
        for name, future in self._connection.admin.create_topics(wanted).items():
            try:
                future.result(REQUEST_WITHIN_S)
            except Exception as failure:
                if "TOPIC_ALREADY_EXISTS" not in str(failure):
                    raise PlanError(f"the topic {name!r} cannot be created: {failure}") from failure


def _compacted(plan: Plan) -> dict[str, dict[str, str]]:
    """Return the settings of topics that have the last value of each key, and nothing older."""
    return {
        str(node.topic): {"cleanup.policy": "compact"}
        for node in plan.walk()
        if isinstance(node, StoreSink)
    }


def _written(plan: Plan) -> list[str]:
    nodes = [*plan.walk()]
    written = [
        node.topic for node in nodes if isinstance(node, TopicSink) and isinstance(node.topic, str)
    ]
    aside = [topic for node in nodes for topic in node.topics_aside]
    return list(dict.fromkeys([*written, *aside]))


def _unknown_sources(plan: Plan, known: Mapping[str, int]) -> Iterator[PlanError]:
    written = _written(plan)
    for source in plan.topic_sources():
        for topic in source.topics:
            if topic not in known and topic not in written:
                yield PlanError(_unknown(topic, known), source.location)


def _unknown(topic: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(topic, sorted(known), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"headwater topics create {topic}"
    return f"there is no topic {topic!r} to read from: {hint}"
