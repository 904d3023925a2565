"""Subject name strategies: ours by name, a caller's own, and confluent-kafka's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import schema_registry as confluent

from headwater.serde import Context, SchemaError
from headwater.serde.subject_names import strategy_of

if TYPE_CHECKING:
    from headwater.serde.subject_names import StrategyLike

KEY = Context("orders", "key")
VALUE = Context("orders")


@pytest.mark.parametrize(
    ("ours", "theirs", "of_value"),
    [
        ("topic", confluent.topic_subject_name_strategy, "orders-value"),
        ("record", confluent.record_subject_name_strategy, "com.example.Order"),
        (
            "topic-record",
            confluent.topic_record_subject_name_strategy,
            "orders-com.example.Order",
        ),
    ],
)
def test_names_are_confluents(ours: StrategyLike, theirs: StrategyLike, of_value: str) -> None:
    name, named = strategy_of(ours), strategy_of(theirs)
    assert name(VALUE, "com.example.Order") == named(VALUE, "com.example.Order") == of_value
    assert name(KEY, "com.example.Order") == named(KEY, "com.example.Order")


@pytest.mark.parametrize(
    ("strategy", "context", "record", "reason"),
    [
        ("topic", Context(), "R", "named after the topic, and none was given"),
        ("record", VALUE, None, "the schema has no name"),
        ("topic-record", VALUE, None, "the schema has no name"),
        (lambda _context, _record: None, VALUE, "R", "orders, value: .* named no subject"),
    ],
)
def test_where_there_is_no_name(
    strategy: StrategyLike, context: Context, record: str | None, reason: str
) -> None:
    with pytest.raises(SchemaError, match=reason):
        strategy_of(strategy)(context, record)


def test_an_unknown_strategy() -> None:
    with pytest.raises(ValueError, match="'topics' is no subject name strategy: give topic, "):
        strategy_of("topics")  # type: ignore[arg-type]
