"""Reads the settings that a service takes and has no use for, from a data file.

They are there so that a file made for another server works as it is, and so that clients find what
they expect. Nobody reads their values, so they are data: a line of JSON each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.config.definition import ConfigDef, Importance, UpdateMode
from headwater.config.types import ConfigType
from headwater.config.validators import (
    NOT_EMPTY,
    at_least,
    between,
    list_of,
    one_of,
    one_of_any_case,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.config.validators import Validator


def read_without_effect(path: Path) -> list[ConfigDef]:
    """Return the definitions in a file: a list of objects, with what is not usual in each.

    `takes` is a test of values and its arguments: ["at_least", 1], ["one_of", "a", "b"].
    """
    import json

    return [_definition(fields) for fields in json.loads(path.read_text("utf-8"))]


def _definition(fields: dict[str, Any]) -> ConfigDef:
    default = fields.get("default")
    takes = fields.get("takes")
    return ConfigDef(
        fields["name"],
        ConfigType[fields["type"]],
        tuple(default) if isinstance(default, list) else default,
        fields["doc"],
        None if takes is None else _VALIDATORS[takes[0]](*takes[1:]),
        UpdateMode(fields.get("update", "read-only")),
        has_effect=False,
        internal=fields.get("internal", False),
        importance=Importance(fields.get("importance", "medium")),
    )


_VALIDATORS: dict[str, Callable[..., Validator]] = {
    "at_least": at_least,
    "between": between,
    "list": lambda *choices: list_of(*choices, may_be_empty=True),
    "non_empty_list": lambda *choices: list_of(*choices, may_be_empty=False),
    "not_empty": lambda: NOT_EMPTY,
    "one_of": one_of,
    "one_of_any_case": one_of_any_case,
}
