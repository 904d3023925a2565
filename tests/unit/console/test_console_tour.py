"""The guided tour: read from a file, and never out of the console."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from examples.plant.__main__ import TOUR

from headwater.config import ConfigError
from headwater.console.model.tour import read_tour

if TYPE_CHECKING:
    from pathlib import Path


def test_the_plants_tour() -> None:
    tour = read_tour(str(TOUR))
    titles = [step.title for step in tour.steps]
    assert titles == ["Browse", "Schema", "Produce", "Stream", "SQL", "Connect"]


def test_what_is_no_tour(tmp_path: Path) -> None:
    step = {"title": "a", "text": "b", "link": "//elsewhere"}
    for text, why in (
        ("[]", "no title, and no steps"),
        ('{"title": "a"}', "no title, and no steps"),
        (json.dumps({"title": "a", "steps": [step]}), "leads out of the console"),
    ):
        file = tmp_path / "tour.json"
        file.write_text(text)
        with pytest.raises(ConfigError, match=why):
            read_tour(str(file))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_tour(str(tmp_path / "nosuch.json"))
