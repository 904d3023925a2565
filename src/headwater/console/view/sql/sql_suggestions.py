"""Suggestions below an editor of SQL, as one types; a click or Ctrl+Space takes one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nicegui import ui

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.sql.sql_completion import Vocabulary, word_before

if TYPE_CHECKING:
    from headwater.console.model.console import Console
    from headwater.console.model.sql.sql import Sql
    from headwater.console.model.sql.sql_completion import Suggestion

_TELL = "(event) => emit({text: event.target.value, at: event.target.selectionStart})"
_INSERT = """\
const box = document.querySelector('.hw-editor textarea');
const [word, begun] = %s;
const at = box.selectionStart;
if (box.value.slice(at - begun, at).length === begun) {
  box.setRangeText(word, at - begun, at, 'end');
  box.dispatchEvent(new Event('input'));
  box.focus();
}"""


class SqlSuggestions:
    """Follows a text area of the class `hw-editor`."""

    def __init__(self, console: Console, sql: Sql, editor: ui.textarea) -> None:
        self._console = console
        self._vocabulary = Vocabulary(sql)
        self._begun = ""
        self._found: list[Suggestion] = []
        editor.on("keyup", self._typed, js_handler=_TELL, throttle=0.12)
        editor.on("keydown.ctrl.space.prevent", self._take_first)

    def show(self) -> None:
        """Show where suggestions go."""
        self._strip = ui.element("div").classes("hw-suggestions")
        self._strip.props('role="group" aria-label="Suggestions"')

    def forget(self) -> None:
        """Ask the server anew: statements have changed something."""
        self._vocabulary.forget()

    async def _typed(self, event: Any) -> None:
        text, at = str(event.args["text"]), int(event.args["at"])
        try:
            found = await self._console.ask(self._vocabulary.suggestions, text, at)
        except ConsoleError:
            found = []
        self._begun = word_before(text, at)
        if found == self._found:
            return
        self._found = found
        self._strip.clear()
        with self._strip:
            for each in found:
                button = ui.button(each.text, on_click=lambda _, each=each: self._take(each))
                button.props("flat dense no-caps size=sm").tooltip(each.kind)

    def _take_first(self) -> None:
        if self._found:
            self._take(self._found[0])

    def _take(self, suggestion: Suggestion) -> None:
        space = "" if suggestion.text.endswith("(") else " "
        given = json.dumps([f"{suggestion.text}{space}", len(self._begun)])
        ui.run_javascript(_INSERT % given.replace("<", "\\u003c"))
        self._found = []
        self._strip.clear()
