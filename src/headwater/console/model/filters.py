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

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.console.model.records import Record

_CONDITION = re.compile(
    r"\s*(?P<field>[A-Za-z_][\w.\[\]\-]*)\s*"
    r"(?P<operator>!=|<=|>=|==|=|<|>|\bcontains\b|\bexists\b)\s*(?P<literal>.*?)\s*",
    re.DOTALL,
)
_AND = re.compile(r"\s+and\s+(?=[A-Za-z_][\w.\[\]\-]*\s*(?:!=|<=|>=|==|=|<|>|contains\b|exists\b))")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_ROOTS = ("key", "value", "headers", "partition", "offset", "timestamp")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MISSING = object()


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
        found = _look_up(record, self.field)
        if self.operator == "exists":
            return found is not _MISSING
        if found is _MISSING:
            return self.operator == "!="
        if self.operator == "contains":
            return self.literal.strip("\"'").lower() in _shown(found).lower()
        wanted = _typed(self.literal)
        if self.operator in _ORDER:
            return _is_ordered(_ORDER[self.operator], found, wanted)
        same = found == wanted or _shown(found) == self.literal.strip("\"'")
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
            root = re.split(r"[.\[]", match["field"])[0]
            if root not in _ROOTS:
                raise FilterError(f"there is no '{root}'; a field starts with {', '.join(_ROOTS)}")
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


def _look_up(record: Record, field: str) -> Any:
    steps = [name or int(index) for name, index in _STEP.findall(field)]
    root, *path = steps
    found: Any = _root(record, str(root))
    if root == "headers" and path:
        # A header's name may have dots in it.
        name = field.removeprefix("headers.")
        return found.get(name, _MISSING)
    for step in path:
        try:
            found = found[step] if isinstance(found, dict | list) else _MISSING
        except (KeyError, IndexError, TypeError):
            return _MISSING
        if found is _MISSING:
            return _MISSING
    return found


def _root(record: Record, name: str) -> Any:
    match name:
        case "key":
            return record.key.value
        case "value":
            return record.value.value
        case "headers":
            return {header: decoded.value for header, decoded in record.headers}
        case "partition":
            return record.partition
        case "offset":
            return record.offset
    return record.timestamp_ms


def _typed(literal: str) -> Any:
    try:
        return json.loads(literal)
    except ValueError:
        return literal.strip("\"'")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _is_ordered(compare: Callable[[Any, Any], bool], found: Any, wanted: Any) -> bool:
    try:
        return bool(compare(found, wanted))
    except TypeError:
        return False
