"""The settings of one log, parsed: what a topic's configuration means to its partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headwater.config import LONG_MAX, ConfigError
from headwater.log.topic_settings import DAY_MS, HOUR_MS, TOPIC_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class LogConfig:
    """The settings of a log; each field is Kafka's topic setting with `_` for `.`.

    `LogConfig()` has Kafka's defaults. `TOPIC_SETTINGS` says what each one does.
    """

    cleanup_policy: frozenset[str] = frozenset({"delete"})
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_type: str = "producer"
    compression_zstd_level: int = 3
    delete_retention_ms: int = DAY_MS
    file_delete_delay_ms: int = 60_000
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    follower_replication_throttled_replicas: tuple[str, ...] = ()
    index_interval_bytes: int = 4096
    leader_replication_throttled_replicas: tuple[str, ...] = ()
    local_retention_bytes: int = -2
    local_retention_ms: int = -2
    max_compaction_lag_ms: int = LONG_MAX
    max_message_bytes: int = 1024 * 1024 + 12
    message_timestamp_after_max_ms: int = HOUR_MS
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_type: str = "CreateTime"
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    min_insync_replicas: int = 1
    preallocate: bool = False
    remote_log_copy_disable: bool = False
    remote_log_delete_on_disable: bool = False
    remote_storage_enable: bool = False
    retention_bytes: int = -1
    retention_ms: int = 7 * DAY_MS
    segment_bytes: int = 1 << 30
    segment_index_bytes: int = 10 << 20
    segment_jitter_ms: int = 0
    segment_ms: int = 7 * DAY_MS
    unclean_leader_election_enable: bool = False

    @property
    def compacts(self) -> bool:
        """Whether the log keeps the last value of each key."""
        return "compact" in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        """Whether old segments are dropped by age and size."""
        return "delete" in self.cleanup_policy

    @classmethod
    def from_properties(
        cls, properties: Mapping[str, str], defaults: LogConfig | None = None
    ) -> LogConfig:
        """Parse a topic's own settings on top of the defaults; raises ConfigError for a bad one."""
        parsed: dict[str, Any] = {}
        for name, text in properties.items():
            parsed[name.replace(".", "_")] = TOPIC_SETTINGS.of(name).parse(text)
        if "cleanup_policy" in parsed:
            parsed["cleanup_policy"] = frozenset(parsed["cleanup_policy"])
        segment_bytes = parsed.pop("internal_segment_bytes", None)
        if segment_bytes is not None:
            parsed["segment_bytes"] = segment_bytes
        config = replace(defaults or cls(), **parsed)
        config.check()
        return config

    def check(self) -> None:
        """Refuse settings that contradict each other."""
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            raise ConfigError(
                "min.compaction.lag.ms",
                self.min_compaction_lag_ms,
                f"it is larger than max.compaction.lag.ms, which is {self.max_compaction_lag_ms}",
            )
