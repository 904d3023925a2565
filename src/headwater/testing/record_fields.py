"""Finds fields of a test's record that the topic's type does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headwater.plan.schemas.types import Array, Map, Struct

if TYPE_CHECKING:
    from headwater.plan.schemas.types import DataType


def check_fields(value: Any, type_: DataType, topic: str) -> None:
    """Raise ValueError for a field that the program would never see; bytes are not looked into."""
    found = _unknown(value, type_, "")
    if found is not None:
        path, known = found
        close = difflib.get_close_matches(path.rpartition(".")[2], known, n=1)
        hint = f"; did you mean {close[0]!r}" if close else ""
        raise ValueError(
            f"the program reads no field {path!r} from {topic!r} (it reads {', '.join(known)})"
            f"{hint}. Leave it out, or give the record's bytes to try one that has more"
        )


def _unknown(value: Any, type_: DataType, path: str) -> tuple[str, tuple[str, ...]] | None:
    match type_:
        case Struct() if isinstance(value, Mapping):
            for name, part in value.items():
                inner = f"{path}.{name}" if path else str(name)
                # JSON's names are exact, where SQL's are not.
                field = next((each for each in type_.fields if each.name == name), None)
                found = (inner, type_.names) if field is None else _unknown(part, field.type, inner)
                if found is not None:
                    return found
        case Array(element) if isinstance(value, list | tuple):
            parts = (_unknown(part, element, path) for part in value)
            return next((found for found in parts if found is not None), None)
        case Map(_, inner_type) if isinstance(value, Mapping):
            parts = (_unknown(part, inner_type, path) for part in value.values())
            return next((found for found in parts if found is not None), None)
    return None
