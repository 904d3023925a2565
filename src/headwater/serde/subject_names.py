"""Subject name strategies: under which subject a schema is registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from headwater.serde.errors import SchemaError

if TYPE_CHECKING:
    from headwater.serde.context import Context

# The context is typed loosely, so that confluent-kafka's own strategies fit as well.
Strategy: TypeAlias = Callable[[Any, str | None], str | None]
StrategyLike: TypeAlias = Literal["topic", "record", "topic-record"] | Strategy


def topic_name(context: Context, _record: str | None) -> str:
    """`orders-value`: all records of a topic have the same schema."""
    return f"{_topic(context)}-{context.field}"


def record_name(_context: Context, record: str | None) -> str:
    """`com.example.Order`: a record's schema is the same in all topics."""
    return _named(record)


def topic_record_name(context: Context, record: str | None) -> str:
    """`orders-com.example.Order`: a topic may hold several kinds of records."""
    return f"{_topic(context)}-{_named(record)}"


def strategy_of(given: StrategyLike) -> Callable[[Context, str | None], str]:
    """Return a strategy by its name, or a caller's own one, which must name a subject."""
    if not isinstance(given, str):
        return _OwnStrategy(given)
    try:
        return _BY_NAME[given]
    except KeyError:
        raise ValueError(
            f"'{given}' is no subject name strategy: give {', '.join(_BY_NAME)} or a function"
        ) from None


@dataclass(frozen=True)
class _OwnStrategy:
    # A class and not a closure: it has to be pickled along with a serialiser.
    strategy: Strategy

    def __call__(self, context: Context, record: str | None) -> str:
        subject = self.strategy(context, record)
        if not subject:
            raise SchemaError(f"{context}: the subject name strategy named no subject")
        return subject


_BY_NAME: dict[str, Callable[[Context, str | None], str]] = {
    "topic": topic_name,
    "record": record_name,
    "topic-record": topic_record_name,
}


def _topic(context: Context) -> str:
    if not context.topic:
        raise SchemaError("the subject is named after the topic, and none was given")
    return context.topic


def _named(record: str | None) -> str:
    if not record:
        raise SchemaError(
            "the subject is named after the record, and the schema has no name; name it, or use "
            "the strategy 'topic'"
        )
    return record
