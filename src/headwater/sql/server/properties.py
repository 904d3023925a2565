"""Properties of queries, as SET gives them: their names with and without prefixes, and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.properties import DEFAULT_KEY_FORMAT, DEFAULT_VALUE_FORMAT
from headwater.sql.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIXES = ("ksql.streams.", "consumer.", "producer.")
OFFSET_RESET = "auto.offset.reset"
GUARANTEE = "processing.guarantee"

QUERY_PROPERTIES: dict[str, tuple[str, ...]] = {
    OFFSET_RESET: ("earliest", "latest"),
    GUARANTEE: ("at_least_once", "exactly_once", "exactly_once_v2"),
    DEFAULT_KEY_FORMAT: (),
    DEFAULT_VALUE_FORMAT: (),
    "ksql.query.pull.table.scan.enabled": ("true", "false"),
    "cache.max.bytes.buffering": (),
    "commit.interval.ms": (),
    "num.stream.threads": (),
    "ksql.query.push.v2.enabled": ("true", "false"),
}
"""What a session can set, with the values that each can have; nothing is any value."""

# Without which ksqlDB would do otherwise too.
DEFAULTS = {OFFSET_RESET: "latest", GUARANTEE: "at_least_once", DEFAULT_KEY_FORMAT: "KAFKA"}


def known_name(name: str) -> str:
    """Return the name of a property without the prefixes that ksqlDB lets one write.

    >>> known_name("ksql.streams.consumer.auto.offset.reset")
    'auto.offset.reset'
    """
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def is_known(name: str) -> bool:
    """Return whether a session can set a property."""
    return known_name(name) in QUERY_PROPERTIES


def checked_name(name: str) -> str:
    """Return the known name of a property; raises SqlError for one that there is not."""
    known = known_name(name)
    if known not in QUERY_PROPERTIES:
        raise SqlError(
            f"Not recognizable as ksql, streams, consumer, or producer property: '{name}'"
        )
    return known


def checked(given: Mapping[str, Any]) -> dict[str, str]:
    """Return a request's properties by their known names; raises SqlError."""
    found = {}
    for name, value in given.items():
        known = checked_name(name)
        text = text_of_setting(name, value)
        allowed = QUERY_PROPERTIES[known]
        if allowed and text not in allowed:
            raise SqlError(
                f"Invalid value {text} for property {known}: it is one of {', '.join(allowed)}"
            )
        found[known] = text
    return found


def text_of_setting(name: str, value: Any) -> str:
    """Return a property's or a variable's value as a statement has it; raises SqlError."""
    if not isinstance(value, str | int | float):
        raise SqlError(f"Invalid value for {name}: it is a text, a number or a boolean")
    return str(value).lower() if isinstance(value, bool) else str(value)
