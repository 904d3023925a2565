"""A guided tour: steps that lead through the pages, written by whoever runs the console."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Step:
    """Something to do on one of the console's pages."""

    title: str
    text: str
    link: str


@dataclass(frozen=True)
class Tour:
    """Steps in their order."""

    title: str
    steps: Sequence[Step]


def read_tour(file: str) -> Tour:
    """Read a tour from a JSON file; raises ConfigError."""
    try:
        value = json.loads(Path(file).read_text())
        steps = [
            Step(str(each["title"]), str(each["text"]), str(each["link"]))
            for each in value["steps"]
        ]
        tour = Tour(str(value["title"]), steps)
    except OSError as failure:
        why = f"it cannot be read ({failure.strerror})"
        raise ConfigError("tour.file", file, why) from None
    except (ValueError, KeyError, TypeError) as failure:
        why = f"it has no title, and no steps with title, text and link ({failure})"
        raise ConfigError("tour.file", file, why) from None
    for step in tour.steps:
        if not step.link.startswith("/") or step.link.startswith("//"):
            raise ConfigError("tour.file", file, f"'{step.link}' leads out of the console")
    return tour
