"""Refuses outputs that cannot be: two in one place, and changes where only final results can go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.nodes import Stateful
from headwater.plan.splitting.stages import roots_of

if TYPE_CHECKING:
    from headwater.plan.nodes import Sink
    from headwater.plan.plan import Plan


def check_outputs(plan: Plan) -> None:
    """Raise PlanError for two outputs in one place, and for files of what replaces itself."""
    taken: dict[str, Sink] = {}
    for sink in plan.sinks:
        if sink.only_adds:
            _check_added(sink)
        if sink.place is None:
            continue
        other = taken.setdefault(sink.place, sink)
        if other is not sink:
            raise PlanError(
                f"{sink.place} is written at {other.location} already: name another", sink.location
            )


def _check_added(sink: Sink) -> None:
    """Files are only added to: a result that may still change needs an end, or to be a change."""
    for root in roots_of(sink):
        if isinstance(root, Stateful) and not root.can_be_added:
            raise PlanError(
                f"files are only added to, and the results of the {root.word} at {root.location} "
                "replace each other for ever: give it windows with windowed_by(...), make every "
                'change a record of its own with emit="record", or write it to a topic or a store',
                sink.location,
            )
