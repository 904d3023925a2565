"""What a SQL server answers, as tables for people or JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LISTS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "streams": (
        "streams",
        (("Stream Name", "name"), ("Kafka Topic", "topic"), ("Key Format", "keyFormat"),
         ("Value Format", "valueFormat"), ("Windowed", "isWindowed")),
    ),
    "tables": (
        "tables",
        (("Table Name", "name"), ("Kafka Topic", "topic"), ("Key Format", "keyFormat"),
         ("Value Format", "valueFormat"), ("Windowed", "isWindowed")),
    ),
    "queries": (
        "queries",
        (("Query ID", "id"), ("Query Type", "queryType"), ("Status", "state"),
         ("Sink Name", "sinks"), ("Query String", "queryString")),
    ),
    "function_names": (
        "functions",
        (("Function Name", "name"), ("Type", "type"), ("Category", "category")),
    ),
    "variables": ("variables", (("Variable Name", "name"), ("Value", "value"))),
    "properties": ("properties", (("Property", "name"), ("Value", "value"))),
}  # fmt: skip


def show_entity(entity: dict[str, Any]) -> None:
    """Write an entity for people."""
    kind = entity["@type"]
    if kind in _LISTS:
        part, columns = _LISTS[kind]
        rows = [[_cell(each.get(name)) for _, name in columns] for each in entity[part]]
        show_table([title for title, _ in columns], rows)
        return
    match kind:
        case "currentStatus":
            click.echo(entity["commandStatus"]["message"])
        case "warning_entity":
            click.echo(entity["message"])
        case "kafka_topics":
            rows = [
                [each["name"], str(len(each["replicaInfo"])), _cell(each["replicaInfo"][:1])]
                for each in entity["topics"]
            ]
            show_table(["Kafka Topic", "Partitions", "Partition Replicas"], rows)
        case "sourceDescription":
            _show_source(entity["sourceDescription"])
        case "source_descriptions":
            for description in entity["sourceDescriptions"]:
                _show_source(description)
        case "queryDescription":
            description = entity["queryDescription"]
            click.echo(f"ID : {description['id']}\nSQL: {description['statementText']}\n")
            click.echo(description["topology"])
        case "type_list":
            rows = [[name, _cell(type_["type"])] for name, type_ in entity["types"].items()]
            show_table(["Type Name", "Schema"], rows)
        case "describe_function":
            click.echo(f"Name     : {entity['name']}\nOverview : {entity['description']}")
            for way in entity["functions"]:
                given = ", ".join(f"{each['name']} {each['type']}" for each in way["arguments"])
                click.echo(f"  {entity['name']}({given}) {way['returnType']}")
        case _:
            click.echo(json.dumps(entity))


def show_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write rows under titles."""
    listed = list(rows)
    widths = [
        max(len(title), *(len(row[index]) for row in listed), 0)
        for index, title in enumerate(titles)
    ]
    line = " | ".join(title.ljust(width) for title, width in zip(titles, widths, strict=True))
    click.echo(f" {line.rstrip()}")
    click.echo("-" * (sum(widths) + 3 * len(widths) - 1))
    for row in listed:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(f" {' | '.join(cells).rstrip()}")


def _show_source(description: dict[str, Any]) -> None:
    click.echo(f"Name : {description['name']}")
    rows = [
        [
            field["name"],
            f"{field['schema']['type']}{_role(description['type'], field.get('type'))}",
        ]
        for field in description["fields"]
    ]
    show_table(["Field", "Type"], rows)
    if description["extended"]:
        for title, name in (("Topic", "topic"), ("Partitions", "partitions"),
                            ("Statement", "statement")):  # fmt: skip
            click.echo(f"{title} : {description[name]}")


def _role(kind: str, role: str | None) -> str:
    if role == "KEY":
        return " (primary key)" if kind == "TABLE" else " (key)"
    return f" ({role.lower()})" if role else ""


def _cell(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return " ".join(value.split())
        case list():
            return ", ".join(_cell(each) for each in value)
        case _:
            return json.dumps(value)


def row_cells(columns: list[Any]) -> list[str]:
    """Return a row's values as cells."""
    return [_cell(value) for value in columns]
