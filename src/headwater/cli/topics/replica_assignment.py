"""Which brokers get a partition's replicas: leaders evenly, replicas over all racks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


class Move(NamedTuple):
    """A partition and the brokers that should have it, the preferred leader first."""

    topic: str
    partition: int
    replicas: tuple[int, ...]


def spread(
    topic: str, partitions: int, racks: Mapping[int, str | None], replication_factor: int
) -> list[Move]:
    """Assign all partitions of a topic to brokers, given with their racks.

    >>> [move.replicas for move in spread("orders", 2, {1: "a", 2: "a", 3: "b"}, 2)]
    [(1, 3), (3, 2)]
    """
    ring = _alternate(racks)
    return [
        Move(topic, partition, _replicas(ring, partition, racks, replication_factor))
        for partition in range(partitions)
    ]


def read_moves(path: Path) -> list[Move]:
    """Read the JSON that Kafka's own reassignment tool takes."""
    try:
        document = json.loads(path.read_text("utf-8"))
        moves = [
            Move(str(each["topic"]), int(each["partition"]), tuple(map(int, each["replicas"])))
            for each in document["partitions"]
        ]
    except (ValueError, KeyError, TypeError) as failure:
        raise click.BadParameter(
            f'{path} is not of the form {{"version": 1, "partitions": [{{"topic": "orders", '
            f'"partition": 0, "replicas": [1, 2]}}]}}: {failure!r}',
            param_hint="--from-file",
        ) from None
    return moves


def as_document(moves: Iterable[Move]) -> dict[str, object]:
    """Return the JSON document that `read_moves` and Kafka's own tool read."""
    return {
        "version": 1,
        "partitions": [{**move._asdict(), "replicas": list(move.replicas)} for move in moves],
    }


def parse_replicas(topic: str, text: str) -> Move:
    """Read PARTITION:ID,ID,... of an option."""
    partition, _, ids = text.partition(":")
    if not partition.isdigit() or not all(each.isdigit() for each in ids.split(",")):
        raise click.BadParameter(
            f"'{text}' is not of the form PARTITION:ID,ID, such as 0:1,2", param_hint="--replicas"
        )
    return Move(topic, int(partition), tuple(int(each) for each in ids.split(",")))


def _alternate(racks: Mapping[int, str | None]) -> list[int]:
    """Return the brokers so that neighbours are in different racks as long as that is possible."""
    by_rack: dict[str | None, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker], []).append(broker)
    queues = list(by_rack.values())
    longest = max(map(len, queues))
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _replicas(
    ring: Sequence[int], partition: int, racks: Mapping[int, str | None], count: int
) -> tuple[int, ...]:
    first = partition % len(ring)
    # Every full turn the followers move on by one, so that not the same pairs are always together.
    turn = partition // len(ring)
    leader, others = ring[first], [*ring[first + 1 :], *ring[:first]]
    if others:
        shift = turn % len(others)
        others = others[shift:] + others[:shift]
    chosen = [leader]
    while len(chosen) < count:
        used = [racks[broker] for broker in chosen]
        chosen.append(
            min((broker for broker in others if broker not in chosen),
                key=lambda broker: used.count(racks[broker]))
        )  # fmt: skip
    return tuple(chosen)
