from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.config import ConfigError, ConfigType, Importance, UpdateMode
from headwater.config.without_effect import read_without_effect

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_of_data_is_a_definition(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(
        """[
        {"name": "a", "type": "INT", "default": 3, "takes": ["between", 1, 5], "doc": "A."},
        {"name": "b", "type": "LIST", "default": ["x"], "takes": ["list", "x", "y"], "doc": "B.",
         "update": "per-broker", "importance": "high", "internal": true},
        {"name": "c", "type": "PASSWORD", "doc": "C."}
        ]"""
    )
    a, b, c = read_without_effect(path)
    assert (a.name, a.type, a.default, a.doc, a.update, a.internal, a.importance) == (
        "a", ConfigType.INT, 3, "A.", UpdateMode.READ_ONLY, False, Importance.MEDIUM,
    )  # fmt: skip
    assert (b.default, b.update, b.internal, b.importance) == (
        ("x",), UpdateMode.PER_BROKER, True, Importance.HIGH,
    )  # fmt: skip
    assert c.default is None
    assert not any(definition.has_effect for definition in (a, b, c))
    with pytest.raises(ConfigError, match="between 1 and 5"):
        a.parse("6")
    with pytest.raises(ConfigError, match="a list of x, y"):
        b.parse("z")


@pytest.mark.parametrize(
    ("takes", "right", "wrong"),
    [
        ('["at_least", 2]', "2", "1"),
        ('["one_of", 2, 3]', "3", "4"),
        ('["one_of_any_case", "up", "down"]', "DOWN", "left"),
        ('["non_empty_list"]', "x", ""),
        ('["not_empty"]', "x", ""),
    ],
)
def test_the_tests_of_values_are_those_of_the_code(
    takes: str, right: str, wrong: str, tmp_path: Path
) -> None:
    kind = "LIST" if "list" in takes else "INT" if "2" in takes else "STRING"
    path = tmp_path / "settings.json"
    path.write_text(f'[{{"name": "a", "type": "{kind}", "takes": {takes}, "doc": "A."}}]')
    (definition,) = read_without_effect(path)
    definition.parse(right)
    with pytest.raises(ConfigError):
        definition.parse(wrong)
