"""Answers of a SQL server: tables where they are lists, pictures of topologies, JSON otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.console.model.sql.sql_chart import NUMBERS
from headwater.console.view.frame import note
from headwater.console.view.markup import Markup, join, table, tag
from headwater.console.view.pipelines.topology_picture import topology_picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_SHOWN = 200
_BESIDE = ("@type", "statementText", "warnings")


def answer_shown(statement: str, entities: Sequence[Mapping[str, Any]]) -> Markup:
    """Return what came of a statement."""
    said = [_entity(each) for each in entities] or [note("good", "Done.")]
    return tag("div", tag("p", tag("code", statement), class_="hw-soft"), *said)


def rows_shown(
    columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Markup:
    """Return rows of a query, the newest first."""
    if not columns:
        return tag("p", "Waiting for the first row ...", class_="hw-soft")
    newest = [[cell(value) for value in row] for row in reversed(rows[-_MOST_SHOWN:])]
    numbers = [i for i, each in enumerate(types) if each.startswith(NUMBERS)]
    return tag("div", table(columns, newest, numbers=numbers), class_="hw-panel")


def fields_shown(fields: Sequence[Mapping[str, Any]]) -> Markup:
    """Return the columns of a stream or table."""
    rows = [(each["name"], type_of(each["schema"]), _key(each.get("type"))) for each in fields]
    return tag("div", table(("Column", "Type", "Part of"), rows), class_="hw-panel")


def type_of(schema: Mapping[str, Any]) -> str:
    """Return a type as it is written.

    >>> type_of({"type": "ARRAY", "memberSchema": {"type": "STRING"}})
    'ARRAY<STRING>'
    """
    if schema["type"] == "STRUCT":
        inner = ", ".join(f"{each['name']} {type_of(each['schema'])}" for each in schema["fields"])
        return f"STRUCT<{inner}>"
    member = schema.get("memberSchema")
    if member is None:
        return str(schema["type"])
    inside = type_of(member)
    return f"{schema['type']}<{inside if schema['type'] == 'ARRAY' else f'STRING, {inside}'}>"


def cell(value: object) -> str:
    """Return a value of a row."""
    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _key(kind: str | None) -> str:
    return "the key" if kind == "KEY" else "the value"


def _entity(entity: Mapping[str, Any]) -> Markup:
    warnings = [note("warning", each["message"]) for each in entity.get("warnings") or ()]
    return join([*warnings, _inner(entity)])


def _inner(entity: Mapping[str, Any]) -> Markup:
    match entity["@type"]:
        case "currentStatus":
            status = entity["commandStatus"]
            kind = "error" if status["status"] == "ERROR" else "good"
            return note(kind, status["message"])
        case "sourceDescription":
            return fields_shown(entity["sourceDescription"]["fields"])
        case "queryDescription":
            return topology_picture(entity["queryDescription"]["topology"])
    for name, value in entity.items():
        if name not in _BESIDE and isinstance(value, list) and value:
            return _list(value)
    rest = {name: value for name, value in entity.items() if name not in _BESIDE}
    if all(not value for value in rest.values()):
        return tag("p", "There are none.", class_="hw-soft")
    return tag("pre", json.dumps(rest, indent=2, ensure_ascii=False))


def _list(values: Sequence[Any]) -> Markup:
    if not isinstance(values[0], dict):
        return tag("pre", "\n".join(map(str, values)))
    names = list(values[0])
    rows = [[cell(each.get(name)) for name in names] for each in values]
    return tag("div", table(names, rows), class_="hw-panel")
