"""Regular expressions that members subscribe to, resolved to the topics there are.

They are RE2's, as in Kafka: it never backtracks, so that no expression a client sends can hold the
broker up, as `(a+)+x` would with Python's `re`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 1 << 20
"""What one compiled expression may take; RE2 then matches more slowly instead of taking more."""


def check_regex(regex: str) -> None:
    """Refuse what is no regular expression; raises KafkaError."""
    _compile(regex)


def matching_topics(regex: str, topics: Iterable[str]) -> frozenset[str]:
    """Return the topics whose whole name matches."""
    pattern = _compile(regex)
    return frozenset(topic for topic in topics if pattern.fullmatch(topic))


def sees_all(topic: str) -> bool:
    """Whether somebody may know of a topic for whom none is hidden: whichever it is."""
    return True


def _compile(regex: str) -> Any:
    # Imported when a member first asks for it: most groups name their topics.
    import re2

    options = re2.Options()
    options.max_mem = MAX_BYTES
    options.never_capture = True
    options.log_errors = False
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        (reason,) = error.args
        raise KafkaError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"'{regex}' is no regular expression that RE2 takes: {reason.decode(errors='replace')}",
        ) from None
