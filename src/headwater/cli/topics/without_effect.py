"""Which settings a cluster takes and has no use for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.output import note
from headwater.cli.topics.config_changes import configs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.cli.topics.config_changes import EntityType
    from headwater.clients.connection import Connection


def without_effect(
    connection: Connection, entity_type: EntityType, names: Iterable[str]
) -> set[str]:
    """Return which of the settings Headwater's broker has no use for; Apache Kafka uses all."""
    from headwater.broker.config.names import base_name
    from headwater.broker.config.settings import BROKER_SETTINGS
    from headwater.log.topic_settings import TOPIC_SETTINGS

    known = TOPIC_SETTINGS if entity_type == "topic" else BROKER_SETTINGS
    idle = {
        name
        for name in names
        if (definition := known.get(base_name(name))) is not None and not definition.has_effect
    }
    return idle if idle and _is_headwater(connection) else set()


def note_without_effect(
    connection: Connection, entity_type: EntityType, names: Iterable[str]
) -> None:
    """Tell whoever sets them that they are kept and do nothing."""
    for name in sorted(without_effect(connection, entity_type, names)):
        note(f"{name} is kept and has no effect here: Headwater's broker is a single node.")


def _is_headwater(connection: Connection) -> bool:
    """Whether the cluster is Headwater's broker: it alone has settings that Kafka does not have.

    Who may not look at a broker's settings is not told, and may still do what was asked for.
    """
    from confluent_kafka import KafkaException

    from headwater.broker.config.settings.own import SETTINGS

    node = str(connection.result(connection.admin.describe_cluster()).nodes[0].id)
    try:
        return SETTINGS[0].name in configs_of(connection, "broker", [node])[node]
    except KafkaException as failure:
        if failure.args[0].name() == "CLUSTER_AUTHORIZATION_FAILED":
            return False
        raise
