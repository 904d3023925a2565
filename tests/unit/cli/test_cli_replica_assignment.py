"""Replicas over brokers and racks: leaders evenly, never twice on a broker, all racks used."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cli.topics.replica_assignment import (
    Move,
    as_document,
    parse_replicas,
    read_moves,
    spread,
)

if TYPE_CHECKING:
    from pathlib import Path

BROKERS = st.dictionaries(
    st.integers(1, 20), st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=8
)


@given(BROKERS, st.integers(1, 30), st.data())
def test_every_assignment(
    racks: dict[int, str | None], partitions: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, len(racks)))
    moves = spread("t", partitions, racks, factor)
    assert [move.partition for move in moves] == list(range(partitions))
    leaders = Counter(move.replicas[0] for move in moves)
    assert max(leaders.values()) - min(leaders[broker] for broker in racks) <= 1
    for move in moves:
        assert len(set(move.replicas)) == factor
        used = {racks[broker] for broker in move.replicas}
        assert len(used) == min(factor, len(set(racks.values())))


def test_followers_change_with_each_turn() -> None:
    moves = spread("t", 6, {1: None, 2: None, 3: None}, 2)
    assert [move.replicas for move in moves] == [(1, 2), (2, 3), (3, 1), (1, 3), (2, 1), (3, 2)]


def test_the_document_of_kafkas_tool(tmp_path: Path) -> None:
    moves = [Move("orders", 0, (1, 2)), Move("orders", 1, (2, 3))]
    path = tmp_path / "moves.json"
    path.write_text(json.dumps(as_document(moves)))
    assert read_moves(path) == moves


@pytest.mark.parametrize("text", ["{", "[]", '{"partitions": [{"topic": "t"}]}'])
def test_a_wrong_document(tmp_path: Path, text: str) -> None:
    path = tmp_path / "moves.json"
    path.write_text(text)
    with pytest.raises(click.BadParameter, match=r"moves\.json is not of the form"):
        read_moves(path)


def test_replicas_of_one_partition() -> None:
    assert parse_replicas("orders", "3:2,1") == Move("orders", 3, (2, 1))
    for text in ("3", "3:", "x:1", "3:1,,2"):
        with pytest.raises(click.BadParameter, match="not of the form PARTITION:ID,ID"):
            parse_replicas("orders", text)
