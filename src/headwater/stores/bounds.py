"""How fresh an answer has to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from headwater.stores.position import Position

WAIT_S = 10.0


class Bound(TypedDict, total=False):
    """What every look-up takes.

    `at_least` waits until the store has come to a position, `timeout_s` long (10 seconds unless it
    is given), and raises PositionNotReachedError then. With `stale`, a store that is still loading
    answers with what it has, which may be half of something.
    """

    at_least: Position | None
    timeout_s: float
    stale: bool
