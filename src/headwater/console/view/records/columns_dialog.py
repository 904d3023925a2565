"""A dialog in which columns of records are picked from the fields that these have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.view.dialogs import buttons, titled_dialog
from headwater.console.view.frame import html
from headwater.console.view.markup import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def columns_dialog(
    offered: Callable[[], Sequence[str]], chosen: Sequence[str], show: Callable[[str], None]
) -> Callable[[], None]:
    """Return what opens it; `show` gets the columns, with commas between them."""
    with titled_dialog("Columns") as dialog:
        what = "Picked fields stand in place of key and value, here and in what is saved."
        html(tag("p", what, class_="hw-soft"))
        fields = ui.element("div").classes("hw-fields")
        others = ui.input("Others, such as value.items[0].price, with commas between them")
        others.props("dense outlined").style("width: 100%")
        boxes: dict[str, ui.checkbox] = {}

        def pick() -> None:
            picked = [name for name, box in boxes.items() if box.value]
            show(",".join([*picked, str(others.value or "")]).strip(","))

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Key and value", on_click=lambda: show("")).props("outline")
            ui.button("Show", on_click=pick).props("unelevated")

    def open_it() -> None:
        boxes.clear()
        fields.clear()
        with fields:
            for name in dict.fromkeys([*chosen, *offered()]):
                boxes[name] = ui.checkbox(name, value=name in chosen).props("dense")
        dialog.open()

    return open_it
