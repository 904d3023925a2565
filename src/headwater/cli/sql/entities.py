"""What answers statements, in lines for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.cli.sql.tables import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    "connector_list": (
        "connectors",
        (("Connector Name", "name"), ("Type", "type"), ("Class", "className"),
         ("Status", "state")),
    ),
    "connector_plugins_list": (
        "connectorsPlugins",
        (("Class", "className"), ("Type", "type"), ("Version", "version")),
    ),
    "variables": ("variables", (("Variable Name", "name"), ("Value", "value"))),
    "properties": ("properties", (("Property", "name"), ("Value", "value"))),
}  # fmt: skip


_READERS = (("Consumers", "consumerCount"), ("Consumer Groups", "consumerGroupCount"))


def listing_of(entity: dict[str, Any]) -> tuple[list[str], list[list[str]]] | None:
    """Return the titles and rows of an entity that is a list; None for all others."""
    kind = entity["@type"]
    if kind in _LISTS:
        part, columns = _LISTS[kind]
        rows = [[cell(each.get(name)) for _, name in columns] for each in entity[part]]
        return [title for title, _ in columns], rows
    if kind in ("kafka_topics", "kafka_topics_extended"):
        counts = _READERS if kind == "kafka_topics_extended" else ()
        topics = [
            [
                each["name"],
                str(len(each["replicaInfo"])),
                cell(each["replicaInfo"][:1]),
                *(cell(each[name]) for _, name in counts),
            ]
            for each in entity["topics"]
        ]
        titles = ["Kafka Topic", "Partitions", "Partition Replicas"]
        return [*titles, *(title for title, _ in counts)], topics
    if kind == "type_list":
        types = [[name, cell(type_["type"])] for name, type_ in entity["types"].items()]
        return ["Type Name", "Schema"], types
    return None


def entity_lines(entity: dict[str, Any], width: int | None, *, wraps: bool = True) -> Iterator[str]:
    """Return the lines that show an entity to people."""
    listing = listing_of(entity)
    if listing is not None:
        yield from listed(*listing, width, wraps=wraps)
        return
    match entity["@type"]:
        case "currentStatus":
            yield entity["commandStatus"]["message"]
        case "warning_entity" | "error_entity":
            yield entity.get("message") or entity["errorMessage"]
        case "sourceDescription":
            yield from _source(entity["sourceDescription"], width)
        case "source_descriptions":
            for description in entity["sourceDescriptions"]:
                yield from _source(description, width)
        case "queryDescription":
            description = entity["queryDescription"]
            yield f"ID : {description['id']}\nSQL: {description['statementText']}\n"
            yield description["topology"]
        case "describe_function":
            yield f"Name     : {entity['name']}\nOverview : {entity['description']}"
            for way in entity["functions"]:
                given = ", ".join(f"{each['name']} {each['type']}" for each in way["arguments"])
                yield f"  {entity['name']}({given}) {way['returnType']}"
        case "connector_info":
            yield f"Created connector {entity['info']['name']}"
        case "drop_connector":
            yield f'Dropped connector "{entity["connectorName"]}"'
        case "connector_description":
            yield from _connector(entity, width)
        case "assert_topic":
            yield f"Topic {entity['topicName']} {_there(entity)}."
        case "assert_schema":
            parts = (("subject", entity.get("subject")), ("id", entity.get("id")))
            named = " ".join(f"{name} {value}" for name, value in parts if value is not None)
            yield f"Schema with {named} {_there(entity)}."
        case _:
            yield json.dumps(entity)


def _there(entity: dict[str, Any]) -> str:
    return "exists" if entity["exists"] else "does not exist"


def _connector(entity: dict[str, Any], width: int | None) -> Iterator[str]:
    status = entity["status"]
    yield f"Name      : {status['name']}"
    yield f"Class     : {entity['connectorClass']}"
    yield f"Type      : {status.get('type', '')}"
    yield f"State     : {status['connector']['state']}"
    yield f"WorkerId  : {status['connector']['worker_id']}"
    tasks = [[str(task["id"]), task["state"], task.get("trace") or ""] for task in status["tasks"]]
    yield from listed(["Task ID", "State", "Error Trace"], tasks, width)


def _source(description: dict[str, Any], width: int | None) -> Iterator[str]:
    yield f"Name : {description['name']}"
    rows = [
        [
            field["name"],
            f"{field['schema']['type']}{_role(description['type'], field.get('type'))}",
        ]
        for field in description["fields"]
    ]
    yield from listed(["Field", "Type"], rows, width)
    if description["extended"]:
        for title, name in (("Topic", "topic"), ("Partitions", "partitions"),
                            ("Statement", "statement")):  # fmt: skip
            yield f"{title} : {description[name]}"


def _role(kind: str, role: str | None) -> str:
    if role == "KEY":
        return " (primary key)" if kind == "TABLE" else " (key)"
    return f" ({role.lower()})" if role else ""


def cell(value: Any) -> str:
    """Return a value as it stands in a table."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return " ".join(value.split())
        case list():
            return ", ".join(cell(each) for each in value)
        case _:
            return json.dumps(value)
