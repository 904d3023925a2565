"""What a word of SQL could become."""

from __future__ import annotations

from headwater.console.model.sql.sql_completion import MOST, Suggestion, Words, suggestions

WORDS = Words(
    {"ORDERS": "stream", "ORDERS_BY_CITY": "table", "ALERTS": "stream"},
    ["ABS", "COUNT", "CONCAT"],
    {"ORDERS": ["ID", "CITY"], "ALERTS": ["COUNTRY"]},
)


def _suggested(text: str) -> list[str]:
    cursor = text.index("|")
    return [each.text for each in suggestions(text.replace("|", ""), cursor, WORDS)]


def test_what_was_begun() -> None:
    assert _suggested("sel|") == ["SELECT"]
    assert _suggested("SELECT ci| FROM orders") == ["CITY"]
    assert _suggested("SELECT cou| FROM orders") == ["COUNT("]
    assert _suggested("SELECT cou| FROM alerts") == ["COUNTRY", "COUNT("]
    assert _suggested("SELECT city| FROM orders") == []
    assert _suggested("SELECT | FROM orders") == []


def test_where_a_stream_has_to_stand() -> None:
    assert _suggested("SELECT * FROM |") == ["ORDERS", "ORDERS_BY_CITY", "ALERTS"]
    assert _suggested("select * from a join ord|") == ["ORDERS", "ORDERS_BY_CITY"]
    assert suggestions("DESCRIBE al", 11, WORDS) == [Suggestion("ALERTS", "stream")]


def test_there_are_not_too_many() -> None:
    many = Words({f"S{number}": "stream" for number in range(50)}, (), {})
    assert len(suggestions("FROM ", 5, many)) == MOST
