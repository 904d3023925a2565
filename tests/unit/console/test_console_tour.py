"""The guided tour: read from a file, and never out of the console."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples.plant.__main__ import TOUR
from tests.docs_page import blocks

from headwater.config import ConfigError
from headwater.console.model.tour import read_tour

ROOT = Path(__file__).parents[3]


def test_the_plants_tour() -> None:
    tour = read_tour(str(TOUR))
    titles = [step.title for step in tour.steps]
    assert titles == ["Browse", "Schema", "Produce", "Stream", "SQL", "Connect"]


def test_the_tour_of_the_documentation(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs/console.md", "json")
    file = tmp_path / "tour.json"
    file.write_text(text)
    assert read_tour(str(file)).steps[0].link == "/topics/orders?start=24h"


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
