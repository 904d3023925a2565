"""The serving layer: what both of the others know, added up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from examples.kappa.lambda_version.speed import speed_topic
from examples.kappa.table import read_table

if TYPE_CHECKING:
    from pathlib import Path


def served(servers: str, view: Path) -> dict[str, dict[str, Any]]:
    """Return the revenue of each month as of now, out of the batch view and the speed view."""
    batch = json.loads(view.read_text())
    months: dict[str, dict[str, Any]] = batch["months"]
    for month, since in read_table(servers, speed_topic(batch["until"])).items():
        before = months.get(month, {"sales": 0, "revenue": 0})
        months[month] = {name: before[name] + since[name] for name in before}
    return dict(sorted(months.items()))
