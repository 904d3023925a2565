"""How far a store has come: the next offset of each partition, in the words of KIP-796."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater.stores.errors import StoreValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confluent_kafka import Message


class Position:
    """By topic and partition, the offset before which everything was seen.

    >>> Position({"orders": {0: 5}}).reached_by(Position({"orders": {0: 7, 1: 2}}))
    True
    """

    __slots__ = ("_offsets",)

    def __init__(self, offsets: Mapping[str, Mapping[int, int]] | None = None) -> None:
        self._offsets = {topic: dict(parts) for topic, parts in (offsets or {}).items()}

    @classmethod
    def after(cls, *messages: Message) -> Position:
        """Return the position behind messages, as a producer's delivery reports have them."""
        found: dict[str, dict[int, int]] = {}
        for message in messages:
            parts = found.setdefault(message.topic(), {})
            partition = message.partition()
            parts[partition] = max(parts.get(partition, 0), message.offset() + 1)
        return cls(found)

    @classmethod
    def from_json(cls, text: str | bytes) -> Position:
        """Read what `to_json` wrote; raises StoreValueError."""
        try:
            return cls(msgspec.json.decode(text, type=dict[str, dict[int, int]], strict=False))
        except (msgspec.DecodeError, msgspec.ValidationError) as failure:
            raise StoreValueError(
                f'{text!r} is no position, such as {{"orders":{{"0":17}}}}: {failure}'
            ) from None

    def to_json(self) -> str:
        """Return it as text."""
        return msgspec.json.encode(self._offsets).decode()

    def as_dict(self) -> dict[str, dict[int, int]]:
        """Return the offsets by topic and partition."""
        return {topic: dict(parts) for topic, parts in self._offsets.items()}

    def offsets(self, topic: str) -> dict[int, int]:
        """Return the offsets of one topic by partition."""
        return dict(self._offsets.get(topic, {}))

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it speaks of."""
        return tuple(self._offsets)

    def reached_by(self, other: Position) -> bool:
        """Tell whether another position has everything that this one has."""
        return all(
            other._offsets.get(topic, {}).get(partition, 0) >= offset
            for topic, parts in self._offsets.items()
            for partition, offset in parts.items()
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._offsets == other._offsets

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __str__(self) -> str:
        places = [
            f"{topic} [{partition}] at offset {offset}"
            for topic, parts in sorted(self._offsets.items())
            for partition, offset in sorted(parts.items())
        ]
        return ", ".join(places) or "the beginning"

    def __repr__(self) -> str:
        return f"Position({self._offsets!r})"
