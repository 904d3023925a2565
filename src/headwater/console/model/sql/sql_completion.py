"""What a word in a text of SQL could become: keywords, streams, tables, columns, functions."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.console.model.sql.sql import Sql

KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "PARTITION BY", "HAVING", "EMIT CHANGES"),
    *("EMIT FINAL", "LIMIT", "WINDOW TUMBLING", "WINDOW HOPPING", "WINDOW SESSION", "SIZE"),
    *("ADVANCE BY", "GRACE PERIOD", "RETENTION", "WITHIN", "JOIN", "LEFT JOIN", "FULL OUTER JOIN"),
    *("INNER JOIN", "ON", "AS", "AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS NULL", "CASE"),
    *("WHEN", "THEN", "ELSE", "END", "CREATE STREAM", "CREATE TABLE", "CREATE OR REPLACE"),
    *("IF NOT EXISTS", "WITH", "INSERT INTO", "VALUES", "DROP STREAM", "DROP TABLE", "SHOW"),
    *("STREAMS", "TABLES", "QUERIES", "TOPICS", "FUNCTIONS", "DESCRIBE", "EXPLAIN", "PRINT"),
    *("TERMINATE", "PAUSE", "RESUME", "SET", "UNSET", "PRIMARY KEY", "KEY", "STRING", "INTEGER"),
    *("BIGINT", "DOUBLE", "BOOLEAN", "DECIMAL", "TIMESTAMP", "DATE", "ARRAY", "MAP", "STRUCT"),
)
MOST = 8
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_NAMES = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BEFORE_SOURCE = re.compile(r"\b(FROM|JOIN|INTO|DESCRIBE|STREAM|TABLE)\s+$", re.IGNORECASE)
_KNOWN_FOR_S = 10.0


class Suggestion(NamedTuple):
    """What could stand there."""

    text: str
    kind: str
    """keyword, stream, table, column or function."""


class Words(NamedTuple):
    """What a server has names for."""

    sources: Mapping[str, str]
    """Streams and tables: their kind by name."""
    functions: Sequence[str]
    columns: Mapping[str, Sequence[str]]


def word_before(text: str, cursor: int) -> str:
    """Return what was begun.

    >>> word_before("SELECT ci, id FROM o", 9)
    'ci'
    """
    found = _WORD.search(text[:cursor])
    return "" if found is None else found[0]


def suggestions(text: str, cursor: int, words: Words) -> list[Suggestion]:
    """Return what the word before the cursor could become, the likeliest first."""
    begun = word_before(text, cursor)
    before = text[: cursor - len(begun)]
    of_sources = [Suggestion(name, kind) for name, kind in words.sources.items()]
    if _BEFORE_SOURCE.search(before):
        return _begin_with(begun, of_sources)
    if not begun:
        return []
    named = {each.upper() for each in _NAMES.findall(text)}
    of_columns = [
        Suggestion(column, "column")
        for source, columns in words.columns.items()
        if source.upper() in named
        for column in columns
    ]
    return _begin_with(
        begun,
        [
            *dict.fromkeys(of_columns),
            *(Suggestion(each, "keyword") for each in KEYWORDS),
            *of_sources,
            *(Suggestion(f"{each}(", "function") for each in words.functions),
        ],
    )


def _begin_with(begun: str, all_of_them: Iterable[Suggestion]) -> list[Suggestion]:
    start = begun.upper()
    found = [
        each
        for each in all_of_them
        if each.text.upper().startswith(start) and each.text.upper() != start
    ]
    return found[:MOST]


class Vocabulary:
    """Asks a server for its names, and knows them for a while. All methods block."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._lock = threading.Lock()
        self._words = Words({}, (), {})
        self._asked = float("-inf")

    def suggestions(self, text: str, cursor: int) -> list[Suggestion]:
        """Return what could stand there; keywords alone where the server does not answer."""
        with self._lock:
            try:
                self._ask(text)
            except ClientError:
                self._asked = time.monotonic()
            return suggestions(text, cursor, self._words)

    def forget(self) -> None:
        """Ask anew: somebody has changed something."""
        with self._lock:
            self._asked = float("-inf")

    def _ask(self, text: str) -> None:
        if time.monotonic() - self._asked > _KNOWN_FOR_S:
            kinds = {each["name"]: str(each["type"]).lower() for each in self._sql.sources()}
            functions = self._words.functions or self._sql.functions()
            self._words = Words(kinds, functions, {})
            self._asked = time.monotonic()
        named = {each.upper() for each in _NAMES.findall(text)}
        known = dict(self._words.columns)
        for name in self._words.sources:
            if name.upper() in named and name not in known:
                known[name] = [each["name"] for each in self._sql.describe(name)["fields"]]
        self._words = self._words._replace(columns=known)
