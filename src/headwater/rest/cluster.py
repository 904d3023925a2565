"""The cluster as the proxy asks it: topics, brokers, settings and offsets, never on the loop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from confluent_kafka import KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import ConfigResource, OffsetSpec

from headwater.clients.connection import Connection, check_topic_name
from headwater.clients.raw.admin import RawAdmin
from headwater.clients.raw.group_coordinator import wait_for_coordinator
from headwater.clients.retries import PAUSE_S
from headwater.http.errors import HttpError
from headwater.rest.errors import partition_not_found, topic_not_found
from headwater.rest.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from confluent_kafka import Node, TopicPartitionInfo
    from confluent_kafka.admin import (
        AdminClient,
        ClusterMetadata,
        ConfigEntry,
        DescribeClusterResult,
        NewTopic,
        TopicDescription,
    )

    from headwater.clients import ClusterAccess

Result = TypeVar("Result")

_THREADS = 16


class Cluster:
    """Asks one cluster, in a few threads, and says in Confluent's codes what it answers.

    `ask` is what handlers call; all other methods block, and are called from inside of it.
    """

    def __init__(self, access: ClusterAccess, timeout_s: float) -> None:
        self._connection = Connection(access)
        self._threads = Threads(_THREADS, "rest-cluster")
        self._timeout_s = timeout_s

    async def ask(self, question: Callable[[Cluster], Result]) -> Result:
        """Return the answer; raises HttpError."""
        return await self._threads.call(lambda: question(self))

    def stop(self) -> None:
        """Let go of the threads."""
        self._threads.stop()

    @property
    def admin(self) -> AdminClient:
        """The admin client; raises ClientError where no broker answers."""
        return self._connection.admin

    @property
    def raw(self) -> RawAdmin:
        """What sends requests that the admin client does not know."""
        return RawAdmin(self._connection)

    def wait_for_coordinator(self, group: str) -> None:
        """Wait until the admin client can be asked about a group: else it may end the process."""
        wait_for_coordinator(self._connection, group)

    def result(self, future: Future[Result]) -> Result:
        """Wait for an answer; raises KafkaException, ClientError."""
        return self._connection.result(future, self._timeout_s)

    def metadata(self) -> ClusterMetadata:
        """Return all topics and brokers."""
        return self.admin.list_topics(timeout=self._timeout_s)

    def describe(self) -> DescribeClusterResult:
        """Return the cluster's id, its brokers and its controller."""
        return self.result(self.admin.describe_cluster(request_timeout=self._timeout_s))

    def brokers(self) -> list[Node]:
        """Return the brokers, by id."""
        return sorted(self.describe().nodes or (), key=lambda node: node.id)

    def topic(self, name: str, *, operations: bool = False) -> TopicDescription:
        """Return a topic, with what may be done with it where that is asked; raises HttpError."""
        (found,) = self.topics([name], operations=operations)
        return found

    def topics(self, names: Sequence[str], *, operations: bool = False) -> list[TopicDescription]:
        """Return several topics; raises HttpError for one that is not there."""
        asked = TopicCollection([check_topic_name(name) for name in names])
        if not names:
            return []
        described = self.admin.describe_topics(
            asked, include_authorized_operations=operations, request_timeout=self._timeout_s
        )
        found = []
        for name, future in described.items():
            try:
                found.append(self.result(future))
            except KafkaException as failure:
                if failure.args[0].name() == "UNKNOWN_TOPIC_OR_PART":
                    raise topic_not_found(name) from None
                raise
        return found

    def partition(self, topic: str, number: str) -> TopicPartitionInfo:
        """Return a partition of a topic by the number in a path; raises HttpError."""
        for partition in self.topic(topic).partitions:
            if str(partition.id) == number:
                return partition
        raise partition_not_found(topic, number)

    def configs(self, kind: ConfigResource.Type, name: str) -> Mapping[str, ConfigEntry]:
        """Return the settings of a topic or a broker."""
        resource = ConfigResource(kind, name)
        (future,) = self.admin.describe_configs(
            [resource], request_timeout=self._timeout_s
        ).values()
        return self.result(future)

    def all_configs(
        self, wanted: Sequence[tuple[ConfigResource.Type, str]]
    ) -> list[Mapping[str, ConfigEntry]]:
        """Return the settings of many topics, in order."""
        resources = [ConfigResource(kind, name) for kind, name in wanted]
        if not resources:
            return []
        answers = self.admin.describe_configs(resources, request_timeout=self._timeout_s)
        found = {each.name: self.result(future) for each, future in answers.items()}
        return [found[name] for _, name in wanted]

    def alter_configs(self, resource: ConfigResource, *, validate_only: bool) -> None:
        """Change settings: all of them, or none."""
        (future,) = self.admin.incremental_alter_configs(
            [resource], validate_only=validate_only, request_timeout=self._timeout_s
        ).values()
        self.result(future)

    def create_topic(self, topic: NewTopic, *, validate_only: bool) -> None:
        """Create a topic, or just say whether that would go."""
        (future,) = self.admin.create_topics(
            [topic], validate_only=validate_only, request_timeout=self._timeout_s
        ).values()
        self.result(future)

    def created_topic(self, name: str) -> TopicDescription:
        """Return a topic that was just created, which not every broker may know yet."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                return self.topic(name)
            except HttpError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE_S)

    def offsets(
        self, partitions: Sequence[tuple[str, int]], spec: OffsetSpec
    ) -> dict[tuple[str, int], int]:
        """Return one offset of each partition."""
        asked = {TopicPartition(*partition): spec for partition in partitions}
        answers = self.admin.list_offsets(asked, request_timeout=self._timeout_s) if asked else {}
        return {
            (each.topic, each.partition): self.result(future).offset
            for each, future in answers.items()
        }

    def ends(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset of a partition, and the next that it will give."""
        place = (topic, partition)
        first = self.offsets([place], OffsetSpec.earliest())[place]
        return first, self.offsets([place], OffsetSpec.latest())[place]
