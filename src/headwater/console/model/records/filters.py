"""Filters of records: a text that they contain, and conditions on fields.

A condition is `FIELD OPERATOR LITERAL`, several are joined by `and`:

    value.customer.id = 42 and value.items[0].price >= 9.5
    key contains berlin
    headers.trace = 00f1 and partition != 3
"""

from __future__ import annotations

import json
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.console.model.records.fields import FIELD, MISSING, ROOTS, look_up, root_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.console.model.records.records import Record

_CONDITION = re.compile(
    rf"\s*(?P<field>{FIELD})\s*"
    r"(?P<operator>!=|<=|>=|==|=|<|>|\bcontains\b|\bexists\b)\s*(?P<literal>.*?)\s*",
    re.DOTALL,
)
_AND = re.compile(rf"\s+and\s+(?={FIELD}\s*(?:!=|<=|>=|==|=|<|>|contains\b|exists\b))")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class FilterError(ValueError):
    """A condition makes no sense; the message says which."""


@dataclass(frozen=True)
class Condition:
    """One condition on a field."""

    field: str
    operator: str
    literal: str

    def holds(self, record: Record) -> bool:
        """Whether a record fulfils it."""
        found = look_up(record, self.field)
        if self.operator == "exists":
            return found is not MISSING
        if found is MISSING:
            return self.operator == "!="
        if self.operator == "contains":
            return self.literal.strip("\"'").lower() in shown(found).lower()
        wanted = _typed(self.literal)
        if self.operator in _ORDER:
            return _is_ordered(_ORDER[self.operator], found, wanted)
        same = found == wanted or shown(found) == self.literal.strip("\"'")
        return same if self.operator in ("=", "==") else not same


@dataclass(frozen=True)
class Filter:
    """What a record has to have to be shown."""

    contains: str = ""
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def parse(cls, contains: str, where: str) -> Filter:
        """Read what a person typed; raises FilterError."""
        found = []
        for part in _AND.split(where.strip()) if where.strip() else ():
            match = _CONDITION.fullmatch(part)
            if match is None:
                raise FilterError(
                    f"'{part}' is no condition such as value.amount > 10 or key contains berlin"
                )
            root = root_of(match["field"])
            if root not in ROOTS:
                raise FilterError(f"there is no '{root}'; a field starts with {', '.join(ROOTS)}")
            if not match["literal"] and match["operator"] != "exists":
                raise FilterError(f"'{part}' compares with nothing")
            found.append(Condition(match["field"], match["operator"], match["literal"]))
        return cls(contains.strip().lower(), tuple(found))

    @property
    def is_empty(self) -> bool:
        """Whether it lets everything through."""
        return not self.contains and not self.conditions

    def takes(self, record: Record) -> bool:
        """Whether a record is shown."""
        if self.contains and not any(self.contains in text.lower() for text in _texts(record)):
            return False
        return all(condition.holds(record) for condition in self.conditions)


def _texts(record: Record) -> list[str]:
    of_headers = [part for name, header in record.headers for part in (name, header.text)]
    return [record.key.text, record.value.text, *of_headers]


def _typed(literal: str) -> Any:
    try:
        return json.loads(literal)
    except ValueError:
        return literal.strip("\"'")


def _is_ordered(compare: Callable[[Any, Any], bool], found: Any, wanted: Any) -> bool:
    try:
        return bool(compare(found, wanted))
    except TypeError:
        return False
