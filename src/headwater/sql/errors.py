"""What is wrong with a statement, and where in its text."""

from __future__ import annotations

from headwater.sql.location import NOWHERE, Location


class SqlError(Exception):
    """A statement that cannot be taken; the message says why and points at the place."""

    def __init__(self, reason: str, location: Location = NOWHERE, text: str = "") -> None:
        super().__init__(_message(reason, location, text))
        self.reason = reason
        self.location = location
        self.text = text

    def within(self, text: str) -> SqlError:
        """Return the same error with the text that its location is in, to show the line."""
        return type(self)(self.reason, self.location, text)


class SqlSyntaxError(SqlError):
    """A text that is no statement of the language."""


def _message(reason: str, location: Location, text: str) -> str:
    if location == NOWHERE:
        return reason
    lines = text.splitlines()
    if not 1 <= location.line <= len(lines):
        return f"{location}: {reason}"
    # Tabs before the caret are kept, so that it stands under its letter in any terminal.
    before = lines[location.line - 1][: location.column - 1]
    indent = "".join("\t" if letter == "\t" else " " for letter in before)
    return f"{location}: {reason}\n  {lines[location.line - 1]}\n  {indent}^"
