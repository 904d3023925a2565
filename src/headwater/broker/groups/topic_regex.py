"""Regular expressions that members subscribe to, resolved to the topics there are."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from headwater.broker.groups.regex import Automaton, RegexError, parse
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_regex(regex: str) -> None:
    """Refuse what is no regular expression; raises KafkaError."""
    _compile(regex)


def matching_topics(regex: str, topics: Iterable[str]) -> frozenset[str]:
    """Return the topics whose whole name matches."""
    automaton = _compile(regex)
    return frozenset(topic for topic in topics if automaton.matches(topic))


@lru_cache(maxsize=256)
def _compile(regex: str) -> Automaton:
    try:
        return Automaton(parse(regex))
    except RegexError as error:
        raise KafkaError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"the pattern '{regex}' cannot be read: {error}",
        ) from None
