"""What a checkpoint depends on: a program that changed in it cannot go on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.plan.plan import Plan


@dataclass(frozen=True)
class Fingerprint:
    """Parts by name, each in words."""

    parts: tuple[tuple[str, str], ...]


def fingerprint_of(plan: Plan) -> Fingerprint:
    """Return the fingerprint of a program."""
    raise NotImplementedError
