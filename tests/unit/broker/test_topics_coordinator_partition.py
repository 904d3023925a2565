"""Names are spread over partitions as Java's strings hash."""

from __future__ import annotations

import pytest

from headwater.broker.topics.coordinator_partition import coordinator_partition, java_hash


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("Grüße", 69215351),
        ("🚲", 1773077),
    ],
)
def test_java_agrees(text: str, number: int) -> None:
    assert java_hash(text) == number


def test_every_partition_exists() -> None:
    assert coordinator_partition("polygenelubricants", 50) == 0
    assert {coordinator_partition(f"group-{n}", 50) for n in range(1000)} == set(range(50))
