"""Positions are compared by partition, and read as they were written."""

from __future__ import annotations

import pytest

from headwater.stores import Position, StoreValueError


def test_a_position_is_reached_by_one_that_has_all_of_it() -> None:
    here = Position({"orders": {0: 5, 1: 7}})
    assert Position().reached_by(here)
    assert Position({"orders": {1: 7}}).reached_by(here)
    assert not Position({"orders": {1: 8}}).reached_by(here)
    assert not Position({"orders": {2: 1}}).reached_by(here)
    assert not Position({"other": {0: 1}}).reached_by(here)
    assert Position({"other": {0: 0}}).reached_by(here)


def test_positions_as_text() -> None:
    here = Position({"orders": {0: 5}})
    assert Position.from_json(here.to_json()) == here
    assert here.to_json() == '{"orders":{"0":5}}'
    assert str(here) == "orders [0] at offset 5"
    assert str(Position()) == "the beginning"


@pytest.mark.parametrize("text", ["", "[]", '{"orders":5}', '{"orders":{"a":1}}'])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(StoreValueError, match="is no position, such as"):
        Position.from_json(text)
