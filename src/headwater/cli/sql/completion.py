"""Words and names that can come next: keywords, functions, and what the server has."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prompt_toolkit.completion import Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from headwater.cli.errors import CommandError
from headwater.cli.sql.client import SqlClient
from headwater.cli.sql.shell_commands import WORDS
from headwater.sql.functions.catalogue.all_functions import FUNCTIONS
from headwater.sql.words import KEYWORDS, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent

_WORD = re.compile(r"[A-Za-z0-9_`]*$")
_IN_TEXT = re.compile(r"'([^']*)$")
_FILE = re.compile(r"(?:RUN\s+SCRIPT|SPOOL)\s+'[^']*$", re.IGNORECASE)
_PROPERTY = re.compile(r"(?:UN)?SET\s+'[^']*$", re.IGNORECASE)
_TOPIC = re.compile(r"(?:PRINT|TOPIC|KAFKA_TOPIC\s*=)\s*'[^']*$", re.IGNORECASE)
_SOURCE = re.compile(r"(?:FROM|JOIN|INTO|DESCRIBE|STREAM|TABLE)\s+\S*$", re.IGNORECASE)
_QUERY = re.compile(r"(?:TERMINATE|PAUSE|RESUME|EXPLAIN)\s+\S*$", re.IGNORECASE)
_ASKED = (
    "SHOW STREAMS EXTENDED;", "SHOW TABLES EXTENDED;", "SHOW TOPICS;", "SHOW QUERIES;",
    "SHOW PROPERTIES;",
)  # fmt: skip


@dataclass
class Names:
    """What the server had when it was last asked."""

    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of each stream and table."""
    topics: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @classmethod
    def ask(cls, client: SqlClient) -> Names:
        """Ask a server; what it does not answer stays empty, since nobody waits for this."""
        found = cls()
        for statement in _ASKED:
            try:
                entities = SqlClient(client.url, client.user).statement(statement)
            except CommandError:
                continue
            for entity in entities:
                found._take(entity)
        return found

    def _take(self, entity: dict[str, Any]) -> None:
        match entity["@type"]:
            case "source_descriptions":
                for source in entity["sourceDescriptions"]:
                    self.columns[source["name"]] = tuple(
                        each["name"] for each in source["fields"] or ()
                    )
            case "kafka_topics" | "kafka_topics_extended":
                self.topics = tuple(each["name"] for each in entity["topics"])
            case "queries":
                self.queries = tuple(each["id"] for each in entity["queries"])
            case "properties":
                self.properties = tuple(
                    each["name"] for each in entity["properties"] if each.get("editable", True)
                )


class SqlCompleter(Completer):
    """Completes the word before the cursor, with what can stand there first."""

    def __init__(self) -> None:
        self.names = Names()
        self._paths = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Return what can stand in the place of the word before the cursor."""
        before = document.text_before_cursor
        if _FILE.search(before):
            typed = before[before.rindex("'") + 1 :]
            yield from self._paths.get_completions(Document(typed), complete_event)
            return
        if match := _IN_TEXT.search(before):
            yield from _those(self._texts(before), match[1])
            return
        last = _WORD.search(before)
        yield from _those(self._words(before, document.text), "" if last is None else last[0])

    def _texts(self, before: str) -> Iterable[str]:
        if _PROPERTY.search(before):
            return self.names.properties
        return self.names.topics if _TOPIC.search(before) else ()

    def _words(self, before: str, whole: str) -> Iterable[str]:
        sources = [quoted(name) for name in self.names.columns]
        if _QUERY.search(before) and self.names.queries:
            return [*self.names.queries, *sources, "ALL", "SELECT"]
        if _SOURCE.search(before):
            return [*sources, *sorted(KEYWORDS)]
        named = whole.upper()
        columns = {
            quoted(column): None
            for name, of_source in self.names.columns.items()
            if name.upper() in named
            for column in of_source
        }
        functions = (f"{name}(" for name in FUNCTIONS)
        commands = WORDS if not before.strip() or " " not in before.strip() else ()
        return [*columns, *sorted(KEYWORDS), *commands, *functions, *sources]


def _those(words: Iterable[str], typed: str) -> Iterator[Completion]:
    start = typed.upper().lstrip("`")
    for word in dict.fromkeys(words):
        if word.upper().lstrip("`").startswith(start):
            yield Completion(word, -len(typed))
