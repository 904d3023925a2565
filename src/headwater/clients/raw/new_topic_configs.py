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
    """There can be no new topic of this name, or this client may not know of what it is like."""

    def __init__(self, code: int, reason: str | None) -> None:
        super().__init__(reason or error_name(code))
        self.code = code
        """Kafka's, of the error."""


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
    # Who may create and not see settings is told so apart, with none of them.
    code = tried.error_code or tried.topic_config_error_code
    if code != ErrorCode.NONE:
        raise TopicRefusedError(code, tried.error_message)
    return sorted(
        NewTopicConfig(each.name, each.value, each.config_source, each.read_only, each.is_sensitive)
        for each in tried.configs or ()
    )
