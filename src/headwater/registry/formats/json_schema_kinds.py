"""The kinds of changes between JSON Schemas: which are harmless, and what to do about the others.

The names are those of Confluent's registry, so that what its users learned holds here too.
"""

from __future__ import annotations

from enum import Enum, auto

from headwater.registry.formats.base import Incompatibility


class Kind(Enum):
    """A change, seen from the older schema to the newer one."""

    SCHEMA_ADDED = auto()
    TYPE_EXTENDED = auto()
    TYPE_NARROWED = auto()
    TYPE_CHANGED = auto()

    MAX_LENGTH_ADDED = auto()
    MAX_LENGTH_REMOVED = auto()
    MAX_LENGTH_INCREASED = auto()
    MAX_LENGTH_DECREASED = auto()
    MIN_LENGTH_ADDED = auto()
    MIN_LENGTH_REMOVED = auto()
    MIN_LENGTH_INCREASED = auto()
    MIN_LENGTH_DECREASED = auto()
    PATTERN_ADDED = auto()
    PATTERN_REMOVED = auto()
    PATTERN_CHANGED = auto()

    MAXIMUM_ADDED = auto()
    MAXIMUM_REMOVED = auto()
    MAXIMUM_INCREASED = auto()
    MAXIMUM_DECREASED = auto()
    MINIMUM_ADDED = auto()
    MINIMUM_REMOVED = auto()
    MINIMUM_INCREASED = auto()
    MINIMUM_DECREASED = auto()
    EXCLUSIVE_MAXIMUM_ADDED = auto()
    EXCLUSIVE_MAXIMUM_REMOVED = auto()
    EXCLUSIVE_MAXIMUM_INCREASED = auto()
    EXCLUSIVE_MAXIMUM_DECREASED = auto()
    EXCLUSIVE_MINIMUM_ADDED = auto()
    EXCLUSIVE_MINIMUM_REMOVED = auto()
    EXCLUSIVE_MINIMUM_INCREASED = auto()
    EXCLUSIVE_MINIMUM_DECREASED = auto()
    MULTIPLE_OF_ADDED = auto()
    MULTIPLE_OF_REMOVED = auto()
    MULTIPLE_OF_EXPANDED = auto()
    MULTIPLE_OF_REDUCED = auto()
    MULTIPLE_OF_CHANGED = auto()

    REQUIRED_ATTRIBUTE_ADDED = auto()
    REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED = auto()
    REQUIRED_ATTRIBUTE_REMOVED = auto()
    MAX_PROPERTIES_ADDED = auto()
    MAX_PROPERTIES_REMOVED = auto()
    MAX_PROPERTIES_INCREASED = auto()
    MAX_PROPERTIES_DECREASED = auto()
    MIN_PROPERTIES_ADDED = auto()
    MIN_PROPERTIES_REMOVED = auto()
    MIN_PROPERTIES_INCREASED = auto()
    MIN_PROPERTIES_DECREASED = auto()
    ADDITIONAL_PROPERTIES_ADDED = auto()
    ADDITIONAL_PROPERTIES_REMOVED = auto()
    ADDITIONAL_PROPERTIES_EXTENDED = auto()
    ADDITIONAL_PROPERTIES_NARROWED = auto()
    UNEVALUATED_PROPERTIES_ADDED = auto()
    UNEVALUATED_PROPERTIES_REMOVED = auto()
    UNEVALUATED_PROPERTIES_EXTENDED = auto()
    UNEVALUATED_PROPERTIES_NARROWED = auto()
    DEPENDENCY_ARRAY_ADDED = auto()
    DEPENDENCY_ARRAY_REMOVED = auto()
    DEPENDENCY_ARRAY_EXTENDED = auto()
    DEPENDENCY_ARRAY_NARROWED = auto()
    DEPENDENCY_ARRAY_CHANGED = auto()
    DEPENDENCY_SCHEMA_ADDED = auto()
    DEPENDENCY_SCHEMA_REMOVED = auto()
    REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = auto()
    REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL = auto()
    OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = auto()
    PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL = auto()
    REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL = auto()
    REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL = auto()
    OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL = auto()
    PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL = auto()
    PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL = auto()
    PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL = auto()
    PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()
    PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()
    PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()
    PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()

    MAX_ITEMS_ADDED = auto()
    MAX_ITEMS_REMOVED = auto()
    MAX_ITEMS_INCREASED = auto()
    MAX_ITEMS_DECREASED = auto()
    MIN_ITEMS_ADDED = auto()
    MIN_ITEMS_REMOVED = auto()
    MIN_ITEMS_INCREASED = auto()
    MIN_ITEMS_DECREASED = auto()
    MAX_CONTAINS_ADDED = auto()
    MAX_CONTAINS_REMOVED = auto()
    MAX_CONTAINS_INCREASED = auto()
    MAX_CONTAINS_DECREASED = auto()
    MIN_CONTAINS_ADDED = auto()
    MIN_CONTAINS_REMOVED = auto()
    MIN_CONTAINS_INCREASED = auto()
    MIN_CONTAINS_DECREASED = auto()
    UNIQUE_ITEMS_ADDED = auto()
    UNIQUE_ITEMS_REMOVED = auto()
    ADDITIONAL_ITEMS_ADDED = auto()
    ADDITIONAL_ITEMS_REMOVED = auto()
    ADDITIONAL_ITEMS_EXTENDED = auto()
    ADDITIONAL_ITEMS_NARROWED = auto()
    UNEVALUATED_ITEMS_ADDED = auto()
    UNEVALUATED_ITEMS_REMOVED = auto()
    UNEVALUATED_ITEMS_EXTENDED = auto()
    UNEVALUATED_ITEMS_NARROWED = auto()
    ITEM_ADDED_TO_OPEN_CONTENT_MODEL = auto()
    ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL = auto()
    ITEM_ADDED_TO_CLOSED_CONTENT_MODEL = auto()
    ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL = auto()
    ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL = auto()
    ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL = auto()
    ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()
    ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()
    ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()
    ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = auto()

    ENUM_ARRAY_EXTENDED = auto()
    ENUM_ARRAY_NARROWED = auto()
    ENUM_ARRAY_CHANGED = auto()
    COMBINED_TYPE_EXTENDED = auto()
    COMBINED_TYPE_CHANGED = auto()
    PRODUCT_TYPE_EXTENDED = auto()
    PRODUCT_TYPE_NARROWED = auto()
    SUM_TYPE_EXTENDED = auto()
    SUM_TYPE_NARROWED = auto()
    COMBINED_TYPE_SUBSCHEMAS_CHANGED = auto()
    NOT_TYPE_EXTENDED = auto()
    NOT_TYPE_NARROWED = auto()


_REMOVALS = frozenset(
    kind
    for kind in Kind
    if kind.name.endswith("_REMOVED")
    and not kind.name.startswith(("ADDITIONAL_", "UNEVALUATED_", "PROPERTY_", "ITEM_"))
)

COMPATIBLE = _REMOVALS | {
    Kind.TYPE_EXTENDED,
    Kind.MAX_LENGTH_INCREASED,
    Kind.MIN_LENGTH_DECREASED,
    Kind.MAXIMUM_INCREASED,
    Kind.MINIMUM_DECREASED,
    Kind.EXCLUSIVE_MAXIMUM_INCREASED,
    Kind.EXCLUSIVE_MINIMUM_DECREASED,
    Kind.MULTIPLE_OF_REDUCED,
    Kind.REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED,
    Kind.DEPENDENCY_ARRAY_NARROWED,
    Kind.MAX_PROPERTIES_INCREASED,
    Kind.MIN_PROPERTIES_DECREASED,
    Kind.ADDITIONAL_PROPERTIES_ADDED,
    Kind.ADDITIONAL_PROPERTIES_EXTENDED,
    Kind.UNEVALUATED_PROPERTIES_ADDED,
    Kind.UNEVALUATED_PROPERTIES_EXTENDED,
    Kind.PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL,
    Kind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL,
    Kind.OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL,
    Kind.PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL,
    Kind.PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL,
    Kind.PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    Kind.PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    Kind.MAX_ITEMS_INCREASED,
    Kind.MIN_ITEMS_DECREASED,
    Kind.MAX_CONTAINS_INCREASED,
    Kind.MIN_CONTAINS_DECREASED,
    Kind.ADDITIONAL_ITEMS_ADDED,
    Kind.ADDITIONAL_ITEMS_EXTENDED,
    Kind.UNEVALUATED_ITEMS_ADDED,
    Kind.UNEVALUATED_ITEMS_EXTENDED,
    Kind.ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL,
    Kind.ITEM_ADDED_TO_CLOSED_CONTENT_MODEL,
    Kind.ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL,
    Kind.ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL,
    Kind.ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    Kind.ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    Kind.ENUM_ARRAY_EXTENDED,
    Kind.COMBINED_TYPE_EXTENDED,
    Kind.PRODUCT_TYPE_NARROWED,
    Kind.SUM_TYPE_EXTENDED,
    Kind.NOT_TYPE_NARROWED,
}

# For those who take unknown properties for absent ones (the policy LENIENT).
COMPATIBLE_IF_LENIENT = frozenset(
    {
        Kind.ADDITIONAL_PROPERTIES_NARROWED,
        Kind.ADDITIONAL_PROPERTIES_REMOVED,
        Kind.UNEVALUATED_PROPERTIES_NARROWED,
        Kind.UNEVALUATED_PROPERTIES_REMOVED,
        Kind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL,
        Kind.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
        Kind.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL,
        Kind.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
        Kind.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    }
)


def explain(kind: Kind, path: str) -> Incompatibility:
    """Say what a change does to data, and how to avoid it."""
    message, if_reader_is_new, if_writer_is_new = _explanation(kind)
    return Incompatibility(kind.name, path, message, if_reader_is_new, if_writer_is_new)


# What to say, by the kind's name or its end; the first that fits counts.
_EXPLANATIONS = {
    "TYPE_CHANGED": (
        "the {reader} schema has another type here than the {writer} schema",
        "Keep the type, or allow both with anyOf",
        "Keep the type; a new property can have another one",
    ),
    "TYPE_NARROWED": (
        "the {reader} schema allows integers only, the {writer} schema all numbers",
        "Keep number",
        "Keep integer",
    ),
    "REQUIRED_ATTRIBUTE_ADDED": (
        "the {reader} schema requires this property, the {writer} schema does not",
        "Leave it optional, or give it a default",
        "Keep it required",
    ),
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (
        "the {reader} schema requires this property, and data of the {writer} schema may lack it "
        "or, as that schema is open, hold anything under its name",
        "Leave it out, or set additionalProperties to false in the first version of a subject, "
        "and make it optional or give it a default",
        "Keep the property",
    ),
    "_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (
        "the {reader} schema has a property that the {writer} schema does not have, and as that "
        "schema is open, its data may hold anything under this name",
        "Set additionalProperties to false in the first version of a subject, give the property "
        "an empty schema, or use the policy LENIENT",
        "Keep the property, or use the policy LENIENT",
    ),
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": (
        "the {reader} schema has a property that the {writer} schema does not have, and as that "
        "schema is open, its data may hold anything under this name",
        "Set additionalProperties to false in the first version of a subject, or use the policy "
        "LENIENT",
        "Keep the property, or use the policy LENIENT",
    ),
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        "the {reader} schema requires a property that the {writer} schema does not have",
        "Make it optional, or give it a default",
        "Keep the property, or make it optional before it is removed",
    ),
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "the {reader} schema lacks a property of the {writer} schema and, being closed, "
        "refuses data that has it",
        "Keep the property, or allow additionalProperties",
        "Do not add a property as long as the old schema is closed",
    ),
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "the {reader} schema lacks a property of the {writer} schema, and what it allows for "
        "additional properties does not fit",
        "Keep the property, or widen additionalProperties or patternProperties",
        "Give the new property a schema that the old one allows for additional properties",
    ),
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "the {reader} schema has a property whose name the {writer} schema allows for additional "
        "properties with other values",
        "Give the property a schema that covers what was allowed before",
        "Keep the property",
    ),
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": (
        "the {reader} schema describes an item that the {writer} schema leaves open",
        "Give the item an empty schema, or close the array (additionalItems, items) in the first "
        "version of a subject",
        "Keep the item",
    ),
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "the {reader} schema lacks an item of the {writer} schema and, being closed, refuses it",
        "Keep the item, or allow additional items",
        "Do not add items as long as the old schema is closed",
    ),
    "_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "an item is in one schema only, and what the other allows for additional items does not "
        "fit",
        "Keep the item, or widen what is allowed for additional items",
        "Keep the item, or give it a schema that the old one allows",
    ),
    "ENUM_ARRAY_NARROWED": (
        "the {reader} schema lacks values that the {writer} schema allows",
        "Keep all values",
        "Do not add values",
    ),
    "ENUM_ARRAY_CHANGED": (
        "the {reader} schema allows other values than the {writer} schema",
        "Keep all values; more may be added",
        "Keep the values; some may be removed",
    ),
    "SUM_TYPE_NARROWED": (
        "the {reader} schema has fewer alternatives than the {writer} schema",
        "Keep all alternatives",
        "Do not add alternatives",
    ),
    "PRODUCT_TYPE_EXTENDED": (
        "the {reader} schema demands more in allOf than the {writer} schema",
        "Add nothing to allOf",
        "Remove nothing from allOf",
    ),
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": (
        "not every alternative of the {writer} schema has one in the {reader} schema that "
        "accepts it",
        "Keep the alternatives as they are and add new ones",
        "Keep the alternatives as they are",
    ),
    "COMBINED_TYPE_CHANGED": (
        "the {reader} schema combines with another keyword (allOf, anyOf, oneOf) than the "
        "{writer} schema",
        "Keep the keyword, or use anyOf",
        "Keep the keyword",
    ),
    "NOT_TYPE_EXTENDED": (
        "the {reader} schema excludes more than the {writer} schema",
        "Exclude no more than before",
        "Exclude no less than before",
    ),
    "DEPENDENCY_SCHEMA_ADDED": (
        "the {reader} schema has a dependency that the {writer} schema does not have",
        "Remove the dependency",
        "Keep the dependency",
    ),
    "PATTERN_CHANGED": (
        "the {reader} schema has another pattern than the {writer} schema",
        "Keep the pattern, or remove it",
        "Keep the pattern",
    ),
    "MULTIPLE_OF_CHANGED": (
        "multipleOf of the {reader} schema does not divide that of the {writer} schema",
        "Keep it, or use a divisor of it",
        "Keep it, or use a multiple of it",
    ),
    "DEPENDENCY_ARRAY_CHANGED": (
        "the {reader} schema demands other properties along with this one",
        "Demand no more than before",
        "Demand no less than before",
    ),
    "_NARROWED": (
        "the {reader} schema restricts what the {writer} schema leaves open",
        "Leave it open",
        "Keep the restriction",
    ),
    "_ADDED": (
        "the {reader} schema has a restriction that the {writer} schema does not have",
        "Remove the restriction",
        "Keep the restriction",
    ),
    "_REMOVED": (
        "the {reader} schema forbids what the {writer} schema allows",
        "Allow it",
        "Keep it forbidden",
    ),
    "": (
        "the {reader} schema is stricter than the {writer} schema",
        "Be no stricter than before",
        "Be no laxer than before",
    ),
}


def _explanation(kind: Kind) -> tuple[str, str, str]:
    if kind.name in _EXPLANATIONS:
        return _EXPLANATIONS[kind.name]
    return next(text for end, text in _EXPLANATIONS.items() if kind.name.endswith(end))
