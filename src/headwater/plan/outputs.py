"""Refuses outputs that cannot be: two in one place, and changes where only final results can go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.plan.errors import PlanError
from headwater.plan.nodes import Aggregate, FileSink, TableStoreSink
from headwater.plan.stages import roots_of, runs_in_processor

if TYPE_CHECKING:
    from headwater.plan.nodes import Node
    from headwater.plan.plan import Plan


def check_outputs(plan: Plan) -> None:
    """Raise PlanError for two outputs in one place, and for files of what Spark cannot append."""
    taken: dict[str, Node] = {}
    for sink in plan.sinks:
        if isinstance(sink, FileSink):
            _check_appends(sink)
            place = f"the folder {_folder(sink.path)!r}"
        elif isinstance(sink, TableStoreSink):
            place = f"the store {sink.store!r}"
        else:
            continue
        other = taken.setdefault(place, sink)
        if other is not sink:
            raise PlanError(
                f"{place} is written at {other.location} already: name another", sink.location
            )


def _folder(path: str) -> str:
    parts = urlsplit(path)
    return str(Path(parts.path).resolve()) if parts.scheme in ("", "file") else path.rstrip("/")


def _check_appends(sink: FileSink) -> None:
    """Files are only added to: a result that may still change needs an end, or to be a change."""
    for root in roots_of(sink):
        if isinstance(root, Aggregate) and root.window is None and not runs_in_processor(root):
            raise PlanError(
                f"files are only added to, and the results of the aggregate at {root.location} "
                "replace each other for ever: give it windows with windowed_by(...), make every "
                'change a record of its own with emit="record", or write it to a topic or a store',
                sink.location,
            )
