"""Settings that several transforms have, and tests of settings' values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.config import (
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    Validator,
    one_of_any_case,
)

if TYPE_CHECKING:
    from headwater.config import Values

REPLACE_NULL = ConfigDef(
    "replace.null.with.default",
    ConfigType.BOOLEAN,
    True,
    "Whether a field that is null and has a default takes the default; else it stays null.",
)
FIELD_SYNTAX = ConfigDef(
    "field.syntax.version",
    ConfigType.STRING,
    "V1",
    "How fields are named: with V1 only those on top; with V2 also those inside, with dots between "
    "the names, and backticks around a name that has dots itself.",
    one_of_any_case("V1", "V2"),
    importance=Importance.HIGH,
)
NON_EMPTY_LIST = Validator("a non-empty list", lambda value: value is None or any(value))


def settings(*definitions: ConfigDef) -> Definitions:
    """Return the settings of a transform or a predicate."""
    return Definitions("transform", *definitions)


def required(
    name: str, kind: ConfigType, doc: str, validator: Validator | None = None
) -> ConfigDef:
    """Return a setting that must be given."""
    return ConfigDef(name, kind, None, doc, validator, importance=Importance.HIGH, required=True)


def given_text(values: Values, name: str) -> str:
    """Return the value of a setting that has one: it is required, or has a default."""
    return values.text(name) or ""


def side_of(class_name: str) -> str:
    """Return the side that a class name is for, `key` or `value`."""
    return "key" if class_name.endswith("$Key") else "value"


def sided(name: str) -> tuple[str, ...]:
    """Return the class names of a transform of Kafka's that has one for each side."""
    return (f"{PACKAGE}.{name}$Key", f"{PACKAGE}.{name}$Value")


PACKAGE = "org.apache.kafka.connect.transforms"


def _is_java_regex(text: str | None) -> bool:
    # Only what Python and Java call wrong alike: Java has more to its expressions than Python.
    try:
        re.compile(text or "")
    except re.error as failure:
        return not str(failure).startswith(_WRONG_IN_JAVA_TOO)
    return True


_WRONG_IN_JAVA_TOO = ("missing )", "unbalanced", "unterminated", "nothing to repeat")
JAVA_REGEX = Validator("a Java regular expression", _is_java_regex)
