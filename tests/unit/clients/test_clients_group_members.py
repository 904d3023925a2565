"""Assignments as clients hand them to each other, which may be anything."""

from __future__ import annotations

from struct import pack

import pytest

from headwater.clients.raw.group_members import assigned_partitions


def assignment(*topics: tuple[str, list[int]]) -> bytes:
    parts = [pack(">hi", 1, len(topics))]
    for name, partitions in topics:
        encoded = name.encode()
        parts.append(pack(f">h{len(encoded)}si", len(encoded), encoded, len(partitions)))
        parts.append(pack(f">{len(partitions)}i", *partitions))
    return b"".join(parts) + pack(">i", -1)


def test_partitions_of_several_topics_are_found() -> None:
    data = assignment(("orders", [0, 3]), ("städte", [1]), ("empty", []))
    assert assigned_partitions(data) == [("orders", 0), ("orders", 3), ("städte", 1)]


def test_no_assignment_is_none() -> None:
    assert assigned_partitions(b"") == []


@pytest.mark.parametrize("size", range(1, 20))
def test_half_an_assignment_is_none(size: int) -> None:
    assert assigned_partitions(assignment(("orders", [0, 3]))[:size]) == []


def test_what_is_no_assignment_is_none() -> None:
    assert assigned_partitions(b"\xff" * 40) == []
