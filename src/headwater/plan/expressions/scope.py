"""The names that an expression may use at a place in a plan, and the columns they stand for."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.plan.errors import ExpressionError
from headwater.plan.schemas.types import (
    BIGINT,
    HEADERS,
    INT,
    STRING,
    TIMESTAMP,
    DataType,
    Struct,
    backticked,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.rows import RowType

RECORD = "record"
LEFT, RIGHT = "left", "right"
OLD, NEW = "old", "new"


@dataclass(frozen=True)
class Binding:
    """A column of a Spark row: its SQL text and its type."""

    sql: str
    type: DataType


@dataclass(frozen=True)
class Scope:
    """Bare names, and qualified ones (`record.key`, `left.id`)."""

    names: Mapping[str, Binding]
    qualified: Mapping[str, Mapping[str, Binding]] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()

    @classmethod
    def of_record(cls, row: RowType, *, value: str = "value", prefix: str = "") -> Scope:
        """Return the names of one record: its value's fields, then its own columns.

        `value` is the column that holds the value and `prefix` goes before every column.
        """
        own = _record_bindings(row, value, prefix)
        fields = _fields(own["value"])
        return cls({**fields, **{k: v for k, v in own.items() if k not in fields}}, {RECORD: own})

    @classmethod
    def of_join(
        cls,
        left: RowType,
        right: RowType,
        *,
        left_value: str = "left_value",
        right_value: str = "right_value",
    ) -> Scope:
        """Return the names where two records meet.

        A field that both have needs `left.` or `right.`; `key` and `timestamp` are the result's.
        `record.left` and `record.right` are always the two values.
        """
        own = {"key": Binding("key", left.key), "timestamp": Binding("timestamp", TIMESTAMP)}
        values = {LEFT: Binding(left_value, left.value), RIGHT: Binding(right_value, right.value)}
        sides = {side: _side(value) for side, value in values.items()}
        left_fields, right_fields = _fields(values[LEFT]), _fields(values[RIGHT])
        both = frozenset(left_fields) & frozenset(right_fields)
        bare = {**left_fields, **right_fields}
        return cls(
            {**own, **{name: bound for name, bound in bare.items() if name not in both}},
            {RECORD: {**own, **values}, **sides},
            both,
        )

    @classmethod
    def of_reduce(cls, value: DataType, *, old: str = "old", new: str = "new") -> Scope:
        """Return the names of a reduce step: `old` is the result so far, `new` the record's."""
        bound = {OLD: Binding(old, value), NEW: Binding(new, value)}
        return cls(bound, {name: _fields(binding) for name, binding in bound.items()})

    def resolve(self, parts: tuple[str, ...]) -> Binding:
        """Return what a dotted name stands for; refuse one that does not exist."""
        first, *rest = parts
        if first in self.qualified and rest and rest[0] in self.qualified[first]:
            return _inside(self.qualified[first][rest[0]], parts, rest[1:])
        bound = _lookup(self.names, first)
        if bound is not None:
            return _inside(bound, parts, rest)
        if first in self.ambiguous:
            raise ExpressionError(
                f"both sides have a field {first!r}: write {LEFT}.{first} or {RIGHT}.{first}"
            )
        if first in self.qualified:
            if not rest:
                raise ExpressionError(f"{first!r} needs a name after it: {self._options(first)}")
            raise ExpressionError(_unknown(".".join(parts), self.qualified[first]))
        raise ExpressionError(_unknown(first, self.names))

    def _options(self, qualifier: str) -> str:
        return ", ".join(f"{qualifier}.{name}" for name in self.qualified[qualifier])


def _record_bindings(row: RowType, value: str, prefix: str) -> dict[str, Binding]:
    own = {
        "key": Binding(f"{prefix}key", row.key),
        "value": Binding(f"{prefix}{value}", row.value),
        "timestamp": Binding(f"{prefix}timestamp", TIMESTAMP),
        "headers": Binding(f"{prefix}headers", HEADERS),
    }
    if row.has_position:
        own["topic"] = Binding(f"{prefix}topic", STRING)
        own["partition"] = Binding(f"{prefix}partition", INT)
        own["offset"] = Binding(f"{prefix}offset", BIGINT)
    return own


def _fields(bound: Binding) -> dict[str, Binding]:
    if not isinstance(bound.type, Struct):
        return {}
    return {
        part.name: Binding(f"{bound.sql}.{backticked(part.name)}", part.type)
        for part in bound.type.fields
    }


def _side(bound: Binding) -> dict[str, Binding]:
    return {"value": bound, **_fields(bound)}


def _lookup(names: Mapping[str, Binding], name: str) -> Binding | None:
    if name in names:
        return names[name]
    # Spark does not look at capitals; two names that differ only by them need the exact one.
    alike = [bound for known, bound in names.items() if known.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def _inside(bound: Binding, parts: tuple[str, ...], rest: list[str]) -> Binding:
    for name in rest:
        fields = _fields(bound)
        found = _lookup(fields, name)
        if found is None:
            if not fields:
                raise ExpressionError(
                    f"{'.'.join(parts)!r}: a {bound.type.ddl()} has no field {name!r}"
                )
            raise ExpressionError(_unknown(".".join(parts), fields))
        bound = found
    return bound


def _unknown(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name.rpartition(".")[2], known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"there is no {name!r} here (there are {', '.join(known)}){hint}"
