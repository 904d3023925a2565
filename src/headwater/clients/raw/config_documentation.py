"""A topic's settings with what they mean, which client libraries do not ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.raw.admin import check
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from headwater.clients.raw.admin import RawAdmin

_TOPIC = 2
_VERSION = 3  # the first that documents
_DYNAMIC_TOPIC_CONFIG = 1


class DocumentedSetting(NamedTuple):
    """A setting; `default` is what it would be if the topic did not have its own."""

    name: str
    value: str | None
    default: str | None
    is_own: bool
    """Whether it was given to this topic."""
    is_read_only: bool
    documentation: str


def documented_settings(admin: RawAdmin, topic: str) -> list[DocumentedSetting]:
    """Return all settings of a topic, by name; raises ClientError."""
    resource = {"resource_type": _TOPIC, "resource_name": topic, "configuration_keys": None}
    body = {"resources": [resource], "include_synonyms": True, "include_documentation": True}
    answer = admin.ask_any(ApiKey.DESCRIBE_CONFIGS, _VERSION, body)
    (result,) = answer.results
    reason = f": {result.error_message}" if result.error_message else ""
    check(result.error_code, f"asking for the settings of {topic}{reason}")
    return sorted(
        DocumentedSetting(
            each.name,
            None if each.is_sensitive else each.value,
            next((s.value for s in each.synonyms if s.source != _DYNAMIC_TOPIC_CONFIG), each.value),
            each.config_source == _DYNAMIC_TOPIC_CONFIG,
            each.read_only,
            each.documentation or "",
        )
        for each in result.configs
    )
