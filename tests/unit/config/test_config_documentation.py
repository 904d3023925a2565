"""The page of settings says what the definitions say."""

from __future__ import annotations

import runpy
from pathlib import Path

from headwater.config import ConfigDef, ConfigType, Importance, UpdateMode, at_least
from headwater.config.documentation import markdown_names, markdown_table

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_what_the_definitions_say() -> None:
    written = runpy.run_path(str(DOCS / "settings.py"))["page"]()
    assert (DOCS / "settings.md").read_text() == written, "run `python docs/settings.py`"


def test_a_table_has_what_does_something_and_what_matters_first() -> None:
    settings = [
        ConfigDef("b", ConfigType.INT, 1, "B.", at_least(0), UpdateMode.CLUSTER_WIDE),
        ConfigDef("a", ConfigType.STRING, "\n", "A|a."),
        ConfigDef("c", ConfigType.LIST, ("x", "y"), "C.", importance=Importance.HIGH),
        ConfigDef("d", ConfigType.INT, 1, "D.", has_effect=False),
        ConfigDef("e", ConfigType.INT, 1, "E.", internal=True),
        ConfigDef("f", ConfigType.PASSWORD, "hush", "F.", importance=Importance.LOW),
    ]
    assert markdown_table(settings).splitlines()[2:] == [
        "| `c` | list | `x,y` |  | high |  | C. |",
        "| `a` | string | `\\n` |  | medium |  | A\\|a. |",
        "| `b` | int | `1` | at least 0 | medium | yes | B. |",
        "| `f` | password |  |  | low |  | F. |",
    ]
    assert markdown_names(settings) == "`d`\n"
