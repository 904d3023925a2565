"""Settings of all brokers of a cluster together, which client libraries cannot name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.clients.raw.admin import check
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients.raw.admin import RawAdmin

_BROKER = 4
_ALL = ""  # the name of no broker is that of all
_SET, _DELETE = 0, 1
_DESCRIBE_VERSION = 1
_ALTER_VERSION = 0


class BrokerDefault(NamedTuple):
    """A setting that was given to all brokers."""

    name: str
    value: str | None
    source: int
    is_read_only: bool
    is_sensitive: bool


def broker_defaults(admin: RawAdmin) -> list[BrokerDefault]:
    """Return the settings that were given to all brokers; raises ClientError."""
    resource = {"resource_type": _BROKER, "resource_name": _ALL, "configuration_keys": None}
    body = {"resources": [resource], "include_synonyms": False}
    answer = admin.ask_any(ApiKey.DESCRIBE_CONFIGS, _DESCRIBE_VERSION, body)
    (result,) = answer.results
    check(result.error_code, "asking for the settings of all brokers")
    return [
        BrokerDefault(each.name, each.value, each.config_source, each.read_only, each.is_sensitive)
        for each in result.configs
    ]


def alter_broker_defaults(
    admin: RawAdmin, changes: Mapping[str, str | None], *, validate_only: bool = False
) -> None:
    """Set what has a value, and take back what has none; raises ClientError."""
    configs: list[dict[str, Any]] = [
        {"name": name, "config_operation": _DELETE if value is None else _SET, "value": value}
        for name, value in changes.items()
    ]
    resource = {"resource_type": _BROKER, "resource_name": _ALL, "configs": configs}
    body = {"resources": [resource], "validate_only": validate_only}
    answer = admin.ask_any(ApiKey.INCREMENTAL_ALTER_CONFIGS, _ALTER_VERSION, body)
    (result,) = answer.responses
    reason = f": {result.error_message}" if result.error_message else ""
    check(result.error_code, f"changing the settings of all brokers{reason}")
