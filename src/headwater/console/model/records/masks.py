"""Fields that nobody sees in the console: hidden as records are decoded, before filters see them.

A rule is `TOPIC:FIELD`, such as `payments.*:value.card.number`. What cannot be taken apart, since
it is no JSON and has no schema, is hidden as a whole: the field could be anywhere in it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.console.model.records.decoding import Decoded, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.console.model.records.records import Record

HIDDEN = "[hidden]"
_PARTS = ("key", "value", "headers")


class Mask(NamedTuple):
    """A field of the topics that a pattern matches."""

    topics: str
    part: str
    """key, value or headers."""
    path: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Mask:
        """Read a rule; raises ValueError.

        >>> Mask.parse("payments.*:value.card.number")
        Mask(topics='payments.*', part='value', path=('card', 'number'))
        """
        topics, _, field = text.partition(":")
        part, *path = field.strip().split(".")
        if not topics.strip() or part not in _PARTS or not all(path):
            raise ValueError(
                "a rule is TOPIC:FIELD, with * in the topic for any letters, and a field such as "
                "value.card.number, key or headers.token"
            )
        return cls(topics.strip(), part, tuple(path))


class Masks:
    """Hides what rules say."""

    def __init__(self, rules: Iterable[Mask] = ()) -> None:
        self._rules = tuple(rules)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def and_those(self, others: Masks) -> Masks:
        """Return what hides all that either hides."""
        return Masks((*self._rules, *others._rules))

    def hide_as_much(self, topic: str, other: str) -> bool:
        """Whether all that is hidden of a topic would be hidden in another one as well.

        >>> masks = Masks([Mask.parse("pay*:value.card"), Mask.parse("users:value.card.number")])
        >>> masks.hide_as_much("users", "payments"), masks.hide_as_much("payments", "users")
        (True, False)
        """
        there = self._rules_of(other)
        return all(
            any(
                wide.part == rule.part and rule.path[: len(wide.path)] == wide.path
                for wide in there
            )
            for rule in self._rules_of(topic)
        )

    def hide(self, record: Record) -> Record:
        """Return a record without what is hidden."""
        for rule in self._rules_of(record.topic):
            record = _hidden(record, rule)
        return record

    def _rules_of(self, topic: str) -> list[Mask]:
        return [rule for rule in self._rules if fnmatchcase(topic, rule.topics)]


def _hidden(record: Record, rule: Mask) -> Record:
    if rule.part == "key":
        return record._replace(key=_without(record.key, rule.path))
    if rule.part == "value":
        return record._replace(value=_without(record.value, rule.path))
    name, rest = rule.path[:1], rule.path[1:]
    headers = tuple(
        (each, _without(value, rest) if not name or each == name[0] else value)
        for each, value in record.headers
    )
    return record._replace(headers=headers)


def _without(decoded: Decoded, path: Sequence[str]) -> Decoded:
    if decoded.kind in ("null", "empty"):
        return decoded
    if not path or not isinstance(decoded.value, dict | list):
        return Decoded(decoded.kind, HIDDEN, HIDDEN, decoded.size, decoded.schema_id)
    value = _cut_out(decoded.value, path)
    text, is_cut = shortened(json.dumps(value, ensure_ascii=False, default=str))
    return replace(decoded, text=text, value=value, is_cut=is_cut, problem=None)


def _cut_out(value: Any, path: Sequence[str]) -> Any:
    """Return a copy without a field; a way through a list goes through all that is in it."""
    if not path:
        return HIDDEN
    if isinstance(value, list):
        return [_cut_out(each, path) for each in value]
    if not isinstance(value, dict):
        return value
    if path[0] in value:
        return {**value, path[0]: _cut_out(value[path[0]], path[1:])}
    if len(value) == 1:  # a branch of one of Avro's unions, by its name
        return {name: _cut_out(each, path) for name, each in value.items()}
    return value
