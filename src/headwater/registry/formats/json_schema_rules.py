"""The rules of JSON Schema compatibility, keyword by keyword."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headwater.registry.formats.json_schema_kinds import Kind
from headwater.registry.formats.json_schema_model import (
    ALL,
    ANY,
    ONE,
    AlwaysFalse,
    Array,
    Combined,
    Const,
    Enumeration,
    Node,
    Not,
    Number,
    Object,
    String,
    accepts_all,
)
from headwater.registry.formats.json_schema_structures import compare_arrays, compare_objects

if TYPE_CHECKING:
    from headwater.registry.formats.effort import Effort
    from headwater.registry.formats.json_schema_diff import Scope


def compare_nodes(scope: Scope, old: Node, new: Node) -> None:
    """Note in a scope what the newer node no longer accepts."""
    if _compare_combined_with_single(scope, old, new):
        return
    if type(old) is not type(new) or _primitive_type(old) != _primitive_type(new):
        if isinstance(old, AlwaysFalse) or accepts_all(new):
            return
        if old.is_connect_bytes and new.is_connect_bytes:
            return
        scope.add(Kind.TYPE_CHANGED)
        return
    match old, new:
        case String(), String():
            _compare_strings(scope, old, new)
        case Number(), Number():
            _compare_numbers(scope, old, new)
        case Const(), Const():
            if old.value != new.value:
                with scope.at("const"):
                    scope.add(Kind.ENUM_ARRAY_CHANGED)
        case Enumeration(), Enumeration():
            with scope.at("enum"):
                scope.add(_enum_change(old.values, new.values))
        case Combined(), Combined():
            _compare_combined(scope, old, new)
        case Not(), Not():
            with scope.at("not"):
                # What the newer one excludes has to be excluded by the older one already.
                narrowed = scope.is_compatible(new.inner, old.inner)
                scope.add(Kind.NOT_TYPE_NARROWED if narrowed else Kind.NOT_TYPE_EXTENDED)
        case Object(), Object():
            compare_objects(scope, old, new)
        case Array(), Array():
            compare_arrays(scope, old, new)
        case _:
            return


def _primitive_type(node: Node) -> str:
    return getattr(node, "type", "")


def _compare_combined_with_single(scope: Scope, old: Node, new: Node) -> bool:
    # One alternative that fits is enough, and so is one demand that already was there.
    if isinstance(new, Combined) and not isinstance(old, Combined):
        if len(new.members) == 1 or new.criterion in (ANY, ONE):
            return any(scope.is_compatible(old, member) for member in new.members)
    elif (
        isinstance(old, Combined)
        and not isinstance(new, Combined)
        and (len(old.members) == 1 or old.criterion == ALL)
    ):
        return any(scope.is_compatible(member, new) for member in old.members)
    return False


def _compare_strings(scope: Scope, old: String, new: String) -> None:
    scope.compare_limit("maxLength", "MAX_LENGTH", old.max_length, new.max_length)
    scope.compare_limit("minLength", "MIN_LENGTH", old.min_length, new.min_length)
    with scope.at("pattern"):
        if old.pattern is None and new.pattern is not None:
            scope.add(Kind.PATTERN_ADDED)
        elif old.pattern is not None and new.pattern not in (None, old.pattern):
            scope.add(Kind.PATTERN_CHANGED)


def _compare_numbers(scope: Scope, old: Number, new: Number) -> None:
    scope.compare_limit("maximum", "MAXIMUM", old.maximum, new.maximum)
    scope.compare_limit("minimum", "MINIMUM", old.minimum, new.minimum)
    scope.compare_limit(
        "exclusiveMaximum",
        "EXCLUSIVE_MAXIMUM",
        old.exclusive_maximum,
        new.exclusive_maximum,
    )
    scope.compare_limit(
        "exclusiveMinimum",
        "EXCLUSIVE_MINIMUM",
        old.exclusive_minimum,
        new.exclusive_minimum,
    )
    with scope.at("multipleOf"):
        _compare_multiples(scope, old.multiple_of, new.multiple_of)
    if old.is_integer != new.is_integer:
        scope.add(Kind.TYPE_EXTENDED if old.is_integer else Kind.TYPE_NARROWED)


def _compare_multiples(scope: Scope, old: Any, new: Any) -> None:
    if new is None or old == new:
        return
    if old is None:
        scope.add(Kind.MULTIPLE_OF_ADDED)
        return
    before, after = Decimal(str(old)), Decimal(str(new))
    if before and after % before == 0:
        scope.add(Kind.MULTIPLE_OF_EXPANDED)
    elif after and before % after == 0:
        scope.add(Kind.MULTIPLE_OF_REDUCED)
    else:
        scope.add(Kind.MULTIPLE_OF_CHANGED)


def _enum_change(old: frozenset[str], new: frozenset[str]) -> Kind:
    if old <= new:
        return Kind.ENUM_ARRAY_EXTENDED
    return Kind.ENUM_ARRAY_NARROWED if new <= old else Kind.ENUM_ARRAY_CHANGED


def _compare_combined(scope: Scope, old: Combined, new: Combined) -> None:
    change = _criterion_change(old, new)
    if change is not None:
        scope.add(change)
        if change is Kind.COMBINED_TYPE_CHANGED:
            return
    before, after = _distinct(old), _distinct(new)
    if len(before) < len(after):
        scope.add(Kind.PRODUCT_TYPE_EXTENDED if new.criterion == ALL else Kind.SUM_TYPE_EXTENDED)
    elif len(before) > len(after):
        scope.add(Kind.PRODUCT_TYPE_NARROWED if old.criterion == ALL else Kind.SUM_TYPE_NARROWED)
    edges = [
        [number for number, other in enumerate(after) if scope.is_compatible(member, other)]
        for member in before
    ]
    if _largest_matching(edges, scope.comparison.effort) < min(len(before), len(after)):
        scope.add(Kind.COMBINED_TYPE_SUBSCHEMAS_CHANGED)


def _criterion_change(old: Combined, new: Combined) -> Kind | None:
    if old.criterion == new.criterion:
        return None
    was_single, is_single = len(old.members) == 1, len(new.members) == 1
    if (
        new.criterion == ANY
        or (was_single and (is_single or new.criterion == ONE))
        or (is_single and old.criterion == ALL)
    ):
        return Kind.COMBINED_TYPE_EXTENDED
    return Kind.COMBINED_TYPE_CHANGED


def _distinct(combined: Combined) -> list[Node]:
    by_text: dict[str, Node] = {}
    for text, member in zip(combined.texts, combined.members, strict=True):
        by_text.setdefault(text, member)
    return list(by_text.values())


def _largest_matching(edges: list[list[int]], effort: Effort) -> int:
    """Return how many of the left can each have a partner of their own on the right."""
    partner: dict[int, int] = {}

    def place(left: int, tried: set[int]) -> bool:
        effort.spend(len(edges[left]))
        for right in edges[left]:
            if right not in tried:
                tried.add(right)
                if right not in partner or place(partner[right], tried):
                    partner[right] = left
                    return True
        return False

    return sum(place(left, set()) for left in range(len(edges)))
