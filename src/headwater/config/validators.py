"""Tests of a setting's value, each with the words that say what would have passed.

A setting without a value passes all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Validator:
    """A test of a parsed value, and the words that say what would have passed."""

    wants: str
    accepts: Callable[[Any], bool]


NOT_EMPTY = Validator("not empty", lambda value: value is None or len(value) > 0)


def at_least(minimum: float) -> Validator:
    """Take numbers from `minimum` up."""
    return Validator(f"at least {minimum}", lambda value: value is None or value >= minimum)


def between(minimum: float, maximum: float) -> Validator:
    """Take numbers from `minimum` to `maximum`, both included."""
    return Validator(
        f"between {minimum} and {maximum}",
        lambda value: value is None or minimum <= value <= maximum,
    )


def one_of(*choices: Any) -> Validator:
    """Take one of the values given."""
    return Validator(
        f"one of {', '.join(map(str, choices))}", lambda value: value is None or value in choices
    )


def one_of_any_case(*choices: str) -> Validator:
    """Take one of the words given, in capitals or not."""
    lower = {choice.lower() for choice in choices}
    return Validator(
        f"one of {', '.join(choices)}", lambda value: value is None or value.lower() in lower
    )


def list_of(*choices: str, may_be_empty: bool) -> Validator:
    """Take lists of the values given, or of anything."""

    def accepts(value: Sequence[str] | None) -> bool:
        if value is None:
            return True
        return (may_be_empty or bool(value)) and (not choices or set(value) <= set(choices))

    kind = "list" if may_be_empty else "non-empty list"
    of = f" of {', '.join(choices)}" if choices else ""
    return Validator(f"a {kind}{of}", accepts)


def either(first: Validator, second: Validator) -> Validator:
    """Take what one of the two takes."""
    return Validator(
        f"{first.wants} or {second.wants}",
        lambda value: first.accepts(value) or second.accepts(value),
    )
