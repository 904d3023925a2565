"""The rules for objects and arrays, whose content model is open, closed, or open in part.

Open: what is not described may be anything. Closed: it may not be there. Open in part: it may be
there if it fits a schema (additionalProperties, patternProperties, unevaluatedProperties, ...).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import jsonschema_rs

from headwater.registry.formats.json_schema_kinds import Kind
from headwater.registry.formats.json_schema_model import (
    AlwaysFalse,
    Array,
    Node,
    Object,
    accepts_all,
)

if TYPE_CHECKING:
    from headwater.registry.formats.json_schema_diff import Scope


def compare_objects(scope: Scope, old: Object, new: Object) -> None:
    """Compare two objects."""
    _compare_required(scope, old, new)
    with scope.at("properties"):
        for name in dict.fromkeys((*old.properties, *new.properties)):
            with scope.at(name):
                _compare_property(scope, name, old, new)
    with scope.at("dependencies"):
        _compare_dependencies(scope, old, new)
    with scope.at("additionalProperties"):
        _compare_additional(scope, "ADDITIONAL_PROPERTIES", old, new)
    with scope.at("unevaluatedProperties"):
        _compare_unevaluated(scope, "UNEVALUATED_PROPERTIES", old.unevaluated, new.unevaluated)
    scope.compare_limit("maxProperties", "MAX_PROPERTIES", old.max_properties, new.max_properties)
    scope.compare_limit("minProperties", "MIN_PROPERTIES", old.min_properties, new.min_properties)


def compare_arrays(scope: Scope, old: Array, new: Array) -> None:
    """Compare two arrays."""
    with scope.at("items"):
        scope.compare(old.items, new.items)
    _compare_tuples(scope, old, new)
    with scope.at("additionalItems"):
        _compare_additional(scope, "ADDITIONAL_ITEMS", old, new)
    with scope.at("unevaluatedItems"):
        _compare_unevaluated(scope, "UNEVALUATED_ITEMS", old.unevaluated, new.unevaluated)
    scope.compare_limit("maxItems", "MAX_ITEMS", old.max_items, new.max_items)
    scope.compare_limit("minItems", "MIN_ITEMS", old.min_items, new.min_items)
    if new.unique_items and not old.unique_items:
        with scope.at("uniqueItems"):
            scope.add(Kind.UNIQUE_ITEMS_ADDED)
    scope.compare_limit("maxContains", "MAX_CONTAINS", old.max_contains, new.max_contains)
    scope.compare_limit("minContains", "MIN_CONTAINS", old.min_contains, new.min_contains)


def _compare_required(scope: Scope, old: Object, new: Object) -> None:
    with scope.at("required"):
        for name, schema in new.properties.items():
            if name in old.properties and name in new.required and name not in old.required:
                with scope.at(name):
                    scope.add(
                        Kind.REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED
                        if schema.has_default
                        else Kind.REQUIRED_ATTRIBUTE_ADDED
                    )


def _compare_property(scope: Scope, name: str, old: Object, new: Object) -> None:
    before, after = old.properties.get(name), new.properties.get(name)
    if before is not None and after is not None:
        scope.compare(before, after)
    elif before is not None:
        _compare_removed_property(scope, name, before, new)
    elif after is not None:
        _compare_added_property(scope, name, after, old, new)


def _compare_removed_property(scope: Scope, name: str, before: Node, new: Object) -> None:
    # Only the newer content model counts: is there still a place for the property?
    if _is_open_object(new):
        scope.add(Kind.PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL)
        return
    covering = _covering_property(new, name)
    if covering is not None:
        covered = scope.compare(before, covering)
        scope.add(
            Kind.PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if covered
            else Kind.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
    elif isinstance(before, AlwaysFalse):
        scope.add(Kind.PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL)
    else:
        scope.add(Kind.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL)


def _compare_added_property(scope: Scope, name: str, after: Node, old: Object, new: Object) -> None:
    # Only the older content model counts: what could be under this name before?
    required = name in new.required
    if _is_open_object(old):
        if accepts_all(after):
            scope.add(Kind.PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL)
        elif not required:
            scope.add(Kind.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL)
        elif after.has_default:
            scope.add(Kind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL)
        else:
            scope.add(Kind.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL)
        return
    covering = _covering_property(old, name)
    if covering is not None:
        covered = scope.compare(covering, after)
        scope.add(
            Kind.PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if covered
            else Kind.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
    if not required:
        scope.add(Kind.OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL)
    elif after.has_default:
        scope.add(Kind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL)
    else:
        scope.add(Kind.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL)


def _compare_dependencies(scope: Scope, old: Object, new: Object) -> None:
    for name, demanded in new.property_dependencies.items():
        before = old.property_dependencies.get(name)
        with scope.at(name):
            if before is None:
                scope.add(Kind.DEPENDENCY_ARRAY_ADDED)
            elif before != demanded:
                if demanded > before:
                    scope.add(Kind.DEPENDENCY_ARRAY_EXTENDED)
                elif not demanded < before:
                    scope.add(Kind.DEPENDENCY_ARRAY_CHANGED)
    for name, schema in new.schema_dependencies.items():
        with scope.at(name):
            if name in old.schema_dependencies:
                scope.compare(old.schema_dependencies[name], schema)
            else:
                scope.add(Kind.DEPENDENCY_SCHEMA_ADDED)


def _compare_additional(scope: Scope, name: str, old: Object | Array, new: Object | Array) -> None:
    if old.allows_additional != new.allows_additional:
        scope.add(Kind[f"{name}_{'ADDED' if new.allows_additional else 'REMOVED'}"])
    elif old.additional is None and new.additional is not None:
        scope.add(Kind[f"{name}_NARROWED"])
    elif old.additional is not None and new.additional is not None:
        scope.compare(old.additional, new.additional)


def _compare_unevaluated(scope: Scope, name: str, old: Node | None, new: Node | None) -> None:
    if new is None:
        return  # everything is allowed now
    was_closed, is_closed = isinstance(old, AlwaysFalse), isinstance(new, AlwaysFalse)
    if is_closed:
        if not was_closed:
            scope.add(Kind[f"{name}_REMOVED"])
    elif was_closed or (old is not None and accepts_all(new)):
        return
    elif old is None or accepts_all(old):
        if old is None or not accepts_all(new):
            scope.add(Kind[f"{name}_NARROWED"])
    else:
        scope.compare(old, new)


def _compare_tuples(scope: Scope, old: Array, new: Array) -> None:
    for index in range(max(len(old.tuple_items), len(new.tuple_items))):
        with scope.at("items"), scope.at(str(index)):
            if index >= len(new.tuple_items):
                _compare_removed_item(scope, old.tuple_items[index], new)
            elif index >= len(old.tuple_items):
                _compare_added_item(scope, new.tuple_items[index], old)
            else:
                scope.compare(old.tuple_items[index], new.tuple_items[index])


def _compare_removed_item(scope: Scope, before: Node, new: Array) -> None:
    if _is_open_array(new):
        scope.add(Kind.ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL)
        return
    covering = _covering_item(new)
    if covering is not None:
        covered = scope.compare(before, covering)
        scope.add(
            Kind.ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if covered
            else Kind.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
    elif isinstance(before, AlwaysFalse):
        scope.add(Kind.ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL)
    else:
        scope.add(Kind.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL)


def _compare_added_item(scope: Scope, after: Node, old: Array) -> None:
    if _is_open_array(old):
        scope.add(
            Kind.ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL
            if accepts_all(after)
            else Kind.ITEM_ADDED_TO_OPEN_CONTENT_MODEL
        )
        return
    covering = _covering_item(old)
    if covering is None:
        scope.add(Kind.ITEM_ADDED_TO_CLOSED_CONTENT_MODEL)
        return
    covered = scope.compare(covering, after)
    scope.add(
        Kind.ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        if covered
        else Kind.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    )


def _is_open_object(node: Object) -> bool:
    return (
        node.allows_additional
        and node.additional is None
        and not node.pattern_properties
        and (node.unevaluated is None or accepts_all(node.unevaluated))
    )


def _is_open_array(node: Array) -> bool:
    return (
        node.allows_additional
        and node.additional is None
        and (node.unevaluated is None or accepts_all(node.unevaluated))
    )


def _covering_property(node: Object, name: str) -> Node | None:
    for pattern, schema in node.pattern_properties.items():
        if _matches(pattern, name):
            return schema
    return _covering_item(node)


def _covering_item(node: Object | Array) -> Node | None:
    if node.additional is not None:
        return node.additional
    if (
        node.allows_additional
        and node.unevaluated is not None
        and not isinstance(node.unevaluated, AlwaysFalse)
        and not accepts_all(node.unevaluated)
    ):
        return node.unevaluated
    return None


def _matches(pattern: str, name: str) -> bool:
    # Not by Python's engine, which can be kept busy for ever by a pattern that is made to.
    try:
        return _pattern(pattern).is_valid(name)
    except ValueError:
        return False  # a pattern of another dialect; what it covers is not known


@lru_cache(maxsize=1_000)
def _pattern(pattern: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator({"pattern": pattern})
