"""Settings of topics and brokers: what they are now, and changes to them."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal, NamedTuple

from headwater.cli.errors import CommandError
from headwater.clients.errors import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from confluent_kafka.admin import ConfigEntry

    from headwater.clients.connection import Connection

EntityType = Literal["topic", "broker"]


class ConfigChange(NamedTuple):
    """One step of an incremental change, as Kafka knows it."""

    operation: Literal["SET", "DELETE", "APPEND", "SUBTRACT"]
    name: str
    value: str | None = None


def apply_changes(
    connection: Connection,
    entity_type: EntityType,
    entity: str,
    changes: Sequence[ConfigChange],
    *,
    dry_run: bool = False,
) -> None:
    """Change the settings of a topic or a broker in one request; all of them, or none."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

    # The client checks that a value is there even where the operation takes none.
    entries = [
        ConfigEntry(
            change.name,
            change.value or "",
            incremental_operation=getattr(AlterConfigOpType, change.operation),
        )
        for change in changes
    ]
    resource = ConfigResource(entity_type, entity, incremental_configs=entries)
    (future,) = connection.admin.incremental_alter_configs(
        [resource], validate_only=dry_run
    ).values()
    try:
        connection.result(future)
    except KafkaException as failure:
        reason = describe(failure.args[0])
        # Headwater's broker says it itself; Apache Kafka does not.
        if failure.args[0].name() == "INVALID_CONFIG" and "did you mean" not in reason:
            reason += _similar_names(connection, entity_type, entity, changes)
        raise CommandError(f"{entity_type} {entity}: {reason}") from None


def configs_of(
    connection: Connection, entity_type: EntityType, entities: Sequence[str]
) -> dict[str, dict[str, ConfigEntry]]:
    """Return all settings of topics or brokers, by entity and name, with sources and synonyms."""
    from confluent_kafka.admin import ConfigResource

    resources = [ConfigResource(entity_type, entity) for entity in entities]
    answers = connection.admin.describe_configs(resources) if resources else {}
    return {resource.name: connection.result(future) for resource, future in answers.items()}


def _similar_names(
    connection: Connection, entity_type: EntityType, entity: str, changes: Iterable[ConfigChange]
) -> str:
    known = configs_of(connection, entity_type, [entity])[entity]
    hints = [
        f"there is no setting '{change.name}'; did you mean {' or '.join(close)}?"
        for change in changes
        if change.name not in known
        and (close := difflib.get_close_matches(change.name, known, n=2))
    ]
    return "".join(f"\n{hint}" for hint in hints)
