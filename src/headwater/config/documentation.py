"""Writes settings down as a table for the documentation, from their definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.config.definition import Importance, UpdateMode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.config.definition import ConfigDef

_HEAD = (
    "| setting | type | default | takes | importance | at run time | what it does |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)
_AT_RUN_TIME = {
    UpdateMode.READ_ONLY: "",
    UpdateMode.PER_BROKER: "yes, per broker",
    UpdateMode.CLUSTER_WIDE: "yes",
}


def markdown_table(definitions: Iterable[ConfigDef]) -> str:
    """Return a table of the settings that do something, the most important ones first."""
    ranks = list(Importance)
    shown = [each for each in definitions if each.has_effect and not each.internal]
    shown.sort(key=lambda each: (ranks.index(each.importance), each.name))
    return "\n".join([*_HEAD, *map(_row, shown)]) + "\n"


def markdown_names(definitions: Iterable[ConfigDef]) -> str:
    """Return the names of the settings that are taken and do nothing, in one paragraph."""
    names = sorted(each.name for each in definitions if not (each.has_effect or each.internal))
    return ", ".join(f"`{name}`" for name in names) + "\n"


def _row(definition: ConfigDef) -> str:
    default = None if definition.is_sensitive else definition.format(definition.default)
    cells = (
        f"`{definition.name}`",
        definition.type.name.lower(),
        "(required)" if definition.required else f"`{default}`" if default else "",
        definition.validator.wants if definition.validator else "",
        definition.importance.value,
        _AT_RUN_TIME[definition.update],
        definition.doc,
    )
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", r"\n")
