"""A text of SQL statements, cut into them: what asks for rows goes another way than the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Quoted names and texts, comments, and the end of a statement; all else is letter by letter.
_PIECE = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|;|[^;'\"`/-]+|.", re.DOTALL
)
_SET = re.compile(r"SET\s+'([^']+)'\s*=\s*'((?:[^']|'')*)'", re.IGNORECASE)
_CONNECTOR = re.compile(
    r"CREATE\s+(?:SOURCE|SINK)\s+CONNECTOR\b.*?(?=\bWITH\b|$)", re.IGNORECASE | re.DOTALL
)
_UNSET = re.compile(r"UNSET\s+'([^']+)'", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One statement, without its semicolon and without comments before it."""

    text: str

    @property
    def is_query(self) -> bool:
        """Whether it is answered with rows."""
        return self.text[:6].upper() == "SELECT"

    @property
    def is_change(self) -> bool:
        """Whether it may change something; whoever may only look may not send it."""
        word = self.text.split(None, 1)[0].upper()
        return word not in ("SELECT", "SHOW", "LIST", "DESCRIBE", "EXPLAIN", "SET", "UNSET")

    @property
    def without_settings(self) -> str:
        """It as it may be written down: settings of connectors are often secrets.

        >>> Statement("CREATE SINK CONNECTOR a WITH ('password' = 'b')").without_settings
        'CREATE SINK CONNECTOR a'
        """
        found = _CONNECTOR.match(self.text)
        return self.text if found is None else found[0].strip()

    def changed(self, properties: dict[str, str]) -> dict[str, str] | None:
        """Return the properties after SET or UNSET, which no server needs to see; else None."""
        if found := _SET.fullmatch(self.text):
            return {**properties, found[1]: found[2].replace("''", "'")}
        if found := _UNSET.fullmatch(self.text):
            return {name: text for name, text in properties.items() if name != found[1]}
        return None


def statements_in(text: str) -> list[Statement]:
    """Return the statements of a text.

    >>> [each.text for each in statements_in("SHOW TABLES; -- all\\nPRINT 'a;b';")]
    ['SHOW TABLES', "PRINT 'a;b'"]
    """
    found, current = [], ""
    for piece in _PIECE.findall(text):
        if piece == ";":
            found.append(current.strip())
            current = ""
        elif not (piece.startswith(("--", "/*")) and not current.strip()):
            current += piece
    found.append(current.strip())
    return [Statement(each) for each in found if each]
