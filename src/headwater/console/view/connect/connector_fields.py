"""The fields of a connector's form: a box for each property, what it means, what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from headwater.console.view.frame import html
from headwater.console.view.markup import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.console.model.connect.connector_form import Field

_BOOLEANS = ("true", "false")


class ConnectorFields:
    """Boxes in the plug-in's groups: the main ones, and the others behind a heading."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._place = ui.element("div")
        self._boxes: dict[str, Any] = {}
        self._is_filling = False

    @property
    def names(self) -> set[str]:
        """The properties that have a box."""
        return set(self._boxes)

    def draw(self, fields: Sequence[Field], config: Mapping[str, str]) -> None:
        """Make the boxes, with what the configuration has."""
        self._place.clear()
        self._boxes = {}
        groups: dict[str, list[Field]] = {}
        for each in fields:
            groups.setdefault(each.group, []).append(each)
        with self._place:
            for group, members in sorted(groups.items(), key=lambda each: _rank(each[1])):
                html(tag("h2", group))
                self._draw_group(group, members, config)
        self.complain({each.name: list(each.errors) for each in fields if each.name in config})

    def values(self) -> dict[str, str]:
        """Return what is in the boxes."""
        return {name: str(box.value or "") for name, box in self._boxes.items()}

    def fill(self, config: Mapping[str, str]) -> None:
        """Put a configuration into the boxes."""
        self._is_filling = True
        for name, box in self._boxes.items():
            box.set_value(config.get(name) or ("" if isinstance(box, ui.input) else None))
        self._is_filling = False

    def complain(self, errors: Mapping[str, Sequence[str]]) -> None:
        """Show what is wrong at the boxes that it is wrong with."""
        for name, box in self._boxes.items():
            found = errors.get(name) or ()
            box.props(remove="error error-message")
            if found:
                box.props["error"] = True
                box.props["error-message"] = "; ".join(found)
            box.update()

    def _draw_group(self, group: str, fields: Sequence[Field], config: Mapping[str, str]) -> None:
        main = [each for each in fields if each.is_main or each.name in config]
        others = [each for each in fields if each not in main]
        for each in main:
            self._draw(each, config)
        if others:
            label = f"{len(others)} more settings of {group}"
            with ui.expansion(label).props("dense").classes("hw-more"):
                for each in others:
                    self._draw(each, config)

    def _draw(self, field: Field, config: Mapping[str, str]) -> None:
        label = f"{field.label} *" if field.is_required else field.label
        value = config.get(field.name)
        choices = field.choices or (_BOOLEANS if field.type == "BOOLEAN" else ())
        box: Any
        if choices:
            known = [*choices, *([value] if value and value not in choices else [])]
            box = ui.select(known, value=value or None, label=label, clearable=True)
        else:
            box = ui.input(label, value=value or "", password=field.is_secret)
        box.props("dense outlined hide-bottom-space").classes("w-full hw-field")
        box.props["hint"] = field.documentation
        if field.default:
            box.props["placeholder"] = field.default
            box.props("stack-label")
        box.on_value_change(self._changed)
        self._boxes[field.name] = box

    def _changed(self) -> None:
        if not self._is_filling:
            self._on_change()


def _rank(fields: Sequence[Field]) -> int:
    """The group with what is required comes first."""
    return -sum(each.is_required for each in fields)
