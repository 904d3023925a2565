"""Spark's output modes: what a query gives out of results that may still change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from headwater.plan.splitting.stages import Stage

OutputMode = Literal["append", "update"]


def output_mode(stage: Stage) -> OutputMode:
    """Return the mode of a stage: update, which real-time mode needs, wherever that can be."""
    return "append" if stage.only_adds else "update"
