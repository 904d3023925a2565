"""The topics of the broker: what there is, and every way in which that changes.

A change is committed to the metadata journal first and carried out after that. So a crash in
between leaves nothing half done: a topic without directories gets empty ones at the next start,
and directories without a topic are set aside.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import defaultdict
from contextlib import contextmanager
from time import time_ns
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.config.names import definition_of
from headwater.broker.metadata import adoption, meta_properties
from headwater.broker.metadata.bootstrap import first_records, missing_patterns
from headwater.broker.metadata.changes import Changes
from headwater.broker.metadata.metadata_store import (
    AclRecord,
    BrokerConfigRecord,
    MetadataStore,
    QuotaRecord,
    TopicRecord,
)
from headwater.broker.topics.internal_topics import blueprint
from headwater.broker.topics.partition import Partition
from headwater.broker.topics.replication_policy import ReplicationPolicy
from headwater.broker.topics.topic_names import INTERNAL_TOPICS, collision_key, new_id
from headwater.config import ConfigError
from headwater.log.config import LogConfig
from headwater.log.disk import storage_error
from headwater.log.errors import LogError
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.log.topic_settings import TOPIC_SETTINGS
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.metadata import PartitionMetadata, TopicMetadata, TopicPartitions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from headwater.broker.acls.acl import Acl
    from headwater.broker.config import BrokerConfig
    from headwater.broker.delegation_tokens.delegation_token import DelegationToken
    from headwater.broker.metadata.metadata_store import ScramRecord, TokenRecord
    from headwater.broker.quotas.entity import Entity, Quotas
    from headwater.broker.sasl.scram_credentials import ScramCredentials
    from headwater.config import ConfigDef
    from headwater.log.manager import LogManager

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)


class NewTopic(NamedTuple):
    """A topic that is about to be created, already checked."""

    name: str
    partitions: int
    configs: dict[str, str]


class Topic:
    """A topic, its settings and its partitions."""

    __slots__ = ("configs", "metadata", "name", "partitions", "topic_id")

    def __init__(
        self, name: str, topic_id: bytes, configs: dict[str, str], partitions: list[Partition]
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.configs = configs
        """What was set for this topic; all else comes from the broker's settings."""
        self.partitions = partitions
        self.metadata: TopicMetadata
        """What Metadata answers, kept ready because every client asks."""

    @property
    def is_internal(self) -> bool:
        """Whether this is one of Kafka's own topics."""
        return self.name in INTERNAL_TOPICS


class TopicRegistry:
    """All topics by name and by id. Whoever changes them does so through `changes`."""

    def __init__(self, logs: LogManager, config: BrokerConfig) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[bytes, Topic] = {}
        self.version = 0
        """Goes up with every change of the topics, their number of partitions or who sees them."""
        self.changes = Changes()
        self.forgetters: list[Callable[[str, int], None]] = []
        """Called in a thread with each partition that goes, before its log does."""
        self.replication = ReplicationPolicy(config)
        self._logs = logs
        self._config = config
        self._store = MetadataStore(config.data_dir)
        self._by_collision_key: defaultdict[str, set[str]] = defaultdict(set)
        self._noted: set[tuple[str, str]] = set()
        self._on_delete: list[Callable[[Topic], None]] = []

    def load(self, now_ms: int) -> str:
        """Open every log and return the id of the cluster."""
        directory = self._config.data_dir
        cluster_id = meta_properties.claim(directory, self._config.node_id).cluster_id
        found = [] if self._store.exists() else adoption.find_topics(directory)
        adopted = [self._with_own_settings(topic) for topic in found]
        metadata = self._store.load()
        if adopted:
            logger.warning(
                "%s has topics and no metadata: taking over %d topics, without settings of their"
                " own", directory, len(adopted),
            )  # fmt: skip
            self._store.commit(adopted)
        if first := first_records(self._config, metadata):
            self._store.commit(first)
        if patterns := missing_patterns(metadata):
            self._store.commit(patterns)
        self._load_broker_configs(metadata.broker_configs)
        with _collection_paused():
            self._logs.load(
                {
                    (topic.name, index): log
                    for topic in metadata.topics.values()
                    # Parsed once for all partitions of a topic.
                    for log in [(topic.topic_id, self._log_config_or_default(topic))]
                    for index in range(topic.partitions)
                },
                now_ms,
            )
            for topic in metadata.topics.values():
                self._publish(topic)
        self._config.on_change(self._apply_defaults)
        return cluster_id

    async def close(self) -> None:
        """Finish what is under way and let go of the journal; the logs are closed after that."""
        await self.changes.drain()
        self._store.close()

    def on_delete(self, tell: Callable[[Topic], None]) -> None:
        """Call back after every topic that is deleted."""
        self._on_delete.append(tell)

    def partition(self, topic: str | bytes, index: int) -> Partition | ErrorCode:
        """Find a partition by the name or the id of its topic, or say why there is none."""
        if isinstance(topic, str):
            found = self.by_name.get(topic)
            missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            found = self.by_id.get(topic)
            missing = ErrorCode.UNKNOWN_TOPIC_ID
        if found is None:
            return missing
        if not 0 <= index < len(found.partitions):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return found.partitions[index]

    def colliding(self, name: str) -> str | None:
        """Return the topic whose metrics could not be told from those of a new one, if any."""
        return min(self._by_collision_key.get(collision_key(name), ()), default=None)

    def log_config(self, configs: Mapping[str, str]) -> LogConfig:
        """Parse a topic's settings on top of the broker's; raises ConfigError for a bad one."""
        return LogConfig.from_properties(configs, self._config.log_defaults())

    async def create(self, topics: Sequence[NewTopic]) -> dict[str, Topic | LogError]:
        """Create topics; what the disk has no room for comes back as an error."""
        if not topics:
            return {}
        for topic in topics:
            self.log_config(topic.configs)  # a setting that is refused must not be committed
        records = [TopicRecord(t.name, new_id(), t.partitions, t.configs) for t in topics]
        await asyncio.to_thread(self._store.commit, records)
        failures = await asyncio.to_thread(self._create_logs, [(record, 0) for record in records])
        if failures:
            undone = [r._replace(partitions=0) for r in records if r.name in failures]
            await asyncio.to_thread(self._undo, undone)
        results: dict[str, Topic | LogError] = {**failures}
        for record in records:
            if record.name not in failures:
                self._note_without_effect("topic", map(TOPIC_SETTINGS.of, record.configs))
                results[record.name] = self._publish(record)
        return results

    async def create_internal(self, name: str) -> None:
        """Create one of Kafka's own topics, which a coordinator needs; raises KafkaError."""
        partitions, configs = blueprint(name, self._config)
        made: Topic | LogError | ConfigError
        try:
            made = (await self.create([NewTopic(name, partitions, configs)]))[name]
        except (ConfigError, LogError) as error:
            made = error
        if isinstance(made, Exception):
            _failures.error(name, "can't create %s: %s", name, made)
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(made)) from made

    async def delete(self, topics: Sequence[Topic]) -> None:
        """Delete topics and set their directories aside."""
        gone = [TopicRecord(topic.name, topic.topic_id, 0, {}) for topic in topics]
        await asyncio.to_thread(self._store.commit, gone)
        for topic in topics:
            del self.by_name[topic.name]
            del self.by_id[topic.topic_id]
            self._by_collision_key[collision_key(topic.name)].discard(topic.name)
            for partition in topic.partitions:
                partition.close()
        self.version += 1
        for topic in topics:
            for tell in self._on_delete:
                tell(topic)
        await asyncio.to_thread(self._delete_logs, topics)

    async def add_partitions(self, topic: Topic, count: int) -> None:
        """Give a topic more partitions, `count` in all."""
        record = TopicRecord(topic.name, topic.topic_id, count, topic.configs)
        before = len(topic.partitions)
        await asyncio.to_thread(self._store.commit, [record])
        failures = await asyncio.to_thread(self._create_logs, [(record, before)])
        if failures:
            await asyncio.to_thread(self._undo, [record._replace(partitions=before)])
            raise failures[record.name]
        topic.partitions.extend(self._partition(record, i) for i in range(before, count))
        self._describe(topic)

    async def set_configs(self, changes: Mapping[str, dict[str, str]]) -> None:
        """Replace the settings of topics, which have been checked."""
        topics = {self.by_name[name]: configs for name, configs in changes.items()}
        await asyncio.to_thread(
            self._store.commit,
            [
                TopicRecord(topic.name, topic.topic_id, len(topic.partitions), configs)
                for topic, configs in topics.items()
            ],
        )
        for topic, configs in topics.items():
            self._note_without_effect("topic", map(TOPIC_SETTINGS.of, configs))
            topic.configs = configs
        self._apply_configs(topics)

    async def set_broker_configs(self, changes: Mapping[str, dict[str, str]]) -> None:
        """Replace what was set at run time for this broker, or for all under an empty name."""
        await asyncio.to_thread(
            self._store.commit, [BrokerConfigRecord(*change) for change in changes.items()]
        )
        for configs in changes.values():
            self._note_without_effect("broker", map(definition_of, configs))
        mine = str(self._config.node_id)
        self._config.set_dynamic(
            changes.get("", self._config.dynamic_default),
            changes.get(mine, self._config.dynamic_broker),
        )

    @property
    def quotas(self) -> Quotas:
        """What clients may use, as it is stored."""
        return self._store.metadata.quotas

    def scram_credentials(self) -> ScramCredentials:
        """Return what is kept of users' passwords, as it is stored."""
        return self._store.metadata.scram

    def delegation_tokens(self) -> Mapping[str, DelegationToken]:
        """Return the delegation tokens by id, as they are stored."""
        return self._store.metadata.tokens

    async def store_credentials(self, changes: Sequence[ScramRecord | TokenRecord]) -> None:
        """Replace what is kept of some users' passwords, and of delegation tokens."""
        await asyncio.to_thread(self._store.commit, changes)

    async def store_quotas(self, changes: Mapping[Entity, dict[str, float]]) -> None:
        """Replace what is stored for some entities; those without quotas are forgotten."""
        await asyncio.to_thread(
            self._store.commit, [QuotaRecord(*change) for change in changes.items()]
        )

    @property
    def acls(self) -> Collection[Acl]:
        """Who may do what, as it is stored."""
        return self._store.metadata.acls.keys()

    async def store_acls(self, added: Iterable[Acl], removed: Iterable[Acl] = ()) -> None:
        """Create and delete ACLs."""
        records = [*map(AclRecord, added), *(AclRecord(acl, exists=False) for acl in removed)]
        await asyncio.to_thread(self._store.commit, records)
        self.version += 1

    def _with_own_settings(self, topic: TopicRecord) -> TopicRecord:
        """Give an internal topic back what it was made with: its offsets must not expire."""
        if topic.name not in INTERNAL_TOPICS:
            return topic
        return topic._replace(configs=blueprint(topic.name, self._config)[1])

    def _load_broker_configs(self, stored: Mapping[str, dict[str, str]]) -> None:
        default, mine = stored.get("", {}), stored.get(str(self._config.node_id), {})
        try:
            self._config.check_dynamic(default, mine)
        except ConfigError as error:
            logger.error("settings that were changed at run time are ignored: %s", error)
        else:
            self._config.set_dynamic(default, mine)

    def _log_config_or_default(self, topic: TopicRecord) -> LogConfig:
        try:
            return self.log_config(topic.configs)
        except ConfigError as error:
            logger.error("the settings of topic %s are ignored: %s", topic.name, error)
            return self._config.log_defaults()

    def _create_logs(self, records: Iterable[tuple[TopicRecord, int]]) -> dict[str, LogError]:
        failures: dict[str, LogError] = {}
        for record, first in records:
            config = self.log_config(record.configs)
            try:
                for index in range(first, record.partitions):
                    self._logs.create(record.name, index, record.topic_id, config, _now_ms())
                self._logs.sync_names((record.name, i) for i in range(first, record.partitions))
            except (LogError, OSError) as error:
                failures[record.name] = (
                    storage_error(error, f"creating the topic {record.name}")
                    if isinstance(error, OSError)
                    else error
                )
                for index in range(first, record.partitions):
                    if (record.name, index) in self._logs.logs:
                        self._delete_log(record.name, index)
        return failures

    def _delete_logs(self, topics: Sequence[Topic]) -> None:
        for topic in topics:
            for partition in topic.partitions:
                for forget in self.forgetters:
                    forget(topic.name, partition.index)
                self._delete_log(topic.name, partition.index)

    def _delete_log(self, topic: str, index: int) -> None:
        try:
            self._logs.delete(topic, index)
        except (LogError, OSError) as error:
            # It is not served any more, and the next start sets its directory aside.
            logger.error("can't set the directory of %s-%d aside: %s", topic, index, error)

    def _undo(self, records: Sequence[TopicRecord]) -> None:
        try:
            self._store.commit(records)
        except LogError as error:
            names = ", ".join(record.name for record in records)
            logger.error(
                "after the next start there will be empty partitions of %s: %s", names, error
            )

    def _partition(self, record: TopicRecord, index: int) -> Partition:
        log = self._logs.logs[record.name, index]
        return Partition(record.name, record.topic_id, index, log)

    def _publish(self, record: TopicRecord) -> Topic:
        partitions = [self._partition(record, index) for index in range(record.partitions)]
        topic = Topic(record.name, record.topic_id, record.configs, partitions)
        self._describe(topic)
        self.by_name[topic.name] = topic
        self.by_id[topic.topic_id] = topic
        self._by_collision_key[collision_key(topic.name)].add(topic.name)
        return topic

    def _describe(self, topic: Topic) -> None:
        self.version += 1
        node = (self._config.node_id,)
        topic.metadata = TopicMetadata(
            ErrorCode.NONE,
            topic.name,
            topic.topic_id,
            topic.is_internal,
            TopicPartitions(
                [
                    PartitionMetadata(p.index, node[0], p.leader_epoch, node, node)
                    for p in topic.partitions
                ]
            ),
        )

    def _apply_defaults(self) -> None:
        self._apply_configs(self.by_name.values())

    def _apply_configs(self, topics: Iterable[Topic]) -> None:
        defaults = self._config.log_defaults()
        for topic in topics:
            try:
                config = LogConfig.from_properties(topic.configs, defaults)
            except ConfigError as error:
                logger.error("topic %s keeps its settings as they were: %s", topic.name, error)
                continue
            for partition in topic.partitions:
                partition.log.update_config(config)

    def _note_without_effect(self, kind: str, settings: Iterable[ConfigDef]) -> None:
        for setting in settings:
            if not setting.has_effect and (kind, setting.name) not in self._noted:
                self._noted.add((kind, setting.name))
                logger.warning(
                    "the %s setting %s is kept and has no effect on one node", kind, setting.name
                )


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Keep the garbage collector from looking, again and again, through what is there to stay."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


def _now_ms() -> int:
    return time_ns() // 1_000_000
