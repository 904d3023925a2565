"""The settings that a new topic would have, of which client libraries say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.connection import check_topic_name
from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import error_name
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.clients.raw.admin import RawAdmin

_VERSION = 5  # the first that tells settings
_BROKERS_DEFAULT = -1
_WITHIN_MS = 15_000


class NewTopicConfig(NamedTuple):
    """A setting, and where its value comes from, by Kafka's number."""

    name: str
    value: str | None
    source: int
    is_read_only: bool
    is_sensitive: bool


class TopicRefusedError(ClientError):
    """There can be no new topic of this name."""


def new_topic_configs(admin: RawAdmin, topic: str) -> list[NewTopicConfig]:
    """Try a topic out, and return its settings, by name; raises ClientError."""
    wanted = {
        "name": check_topic_name(topic),
        "num_partitions": _BROKERS_DEFAULT,
        "replication_factor": _BROKERS_DEFAULT,
        "assignments": [],
        "configs": [],
    }
    body = {"topics": [wanted], "timeout_ms": _WITHIN_MS, "validate_only": True}
    (tried,) = admin.ask_any(ApiKey.CREATE_TOPICS, _VERSION, body).topics
    if tried.error_code != ErrorCode.NONE:
        raise TopicRefusedError(tried.error_message or error_name(tried.error_code))
    return sorted(
        NewTopicConfig(each.name, each.value, each.config_source, each.read_only, each.is_sensitive)
        for each in tried.configs or ()
    )
