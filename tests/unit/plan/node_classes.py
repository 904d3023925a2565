"""The classes of nodes that there are, for tests that go through all of them."""

from __future__ import annotations

import inspect
from typing import Any

from headwater.plan.nodes import Stateless
from headwater.plan.nodes.stateless import RecordByRecord

_BASES = (Stateless, RecordByRecord)


def classes_below(base: Any) -> set[type]:
    """Return the classes that a plan can have nodes of; those of tests do not count."""
    found = {each for direct in base.__subclasses__() for each in classes_below(direct)}
    is_ours = base.__module__.startswith("headwater.")
    is_one = is_ours and base not in _BASES and not inspect.isabstract(base)
    return found | ({base} if is_one else set())
