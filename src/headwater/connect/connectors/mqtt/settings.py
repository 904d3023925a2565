"""The properties of the MQTT source and sink, under Confluent's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    between,
)
from headwater.connect.connectors.connector import FieldError
from headwater.connect.connectors.mqtt.server import server_of

if TYPE_CHECKING:
    from headwater.config import Values

_CONNECTION = (
    ConfigDef(
        "mqtt.server.uri",
        ConfigType.LIST,
        (),
        "The MQTT brokers, such as tcp://localhost:1883 or ssl://localhost:8883; the first that "
        "answers is taken.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.username",
        ConfigType.STRING,
        "",
        "The user to log in as; empty for none.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.password",
        ConfigType.PASSWORD,
        None,
        "The user's password.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.ssl.trust.store.path",
        ConfigType.STRING,
        "",
        "A PEM file with the authorities to trust; without it, the system's.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.ssl.key.store.path",
        ConfigType.STRING,
        "",
        "A PEM file with this client's certificate and its key.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.ssl.key.password",
        ConfigType.PASSWORD,
        None,
        "The password of that key.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.client.id",
        ConfigType.STRING,
        "",
        "The name that the MQTT broker knows the session by; without it, headwater-connect- and "
        "the connector's name.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "mqtt.connect.timeout.seconds",
        ConfigType.INT,
        30,
        "For how long to wait for the MQTT broker's answers.",
        at_least(1),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "mqtt.keepalive.interval.seconds",
        ConfigType.INT,
        60,
        "How often to show the MQTT broker that the connector is there.",
        at_least(1),
        importance=Importance.LOW,
    ),
)

SOURCE_DEFINITIONS = Definitions(
    "MqttSource",
    *_CONNECTION,
    ConfigDef(
        "mqtt.topics",
        ConfigType.LIST,
        (),
        "The topics to subscribe to; + stands for one level, # for all below.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "kafka.topic",
        ConfigType.STRING,
        "mqtt",
        "The topic to write to.",
        NOT_EMPTY,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "mqtt.qos",
        ConfigType.INT,
        0,
        "With which quality of service to subscribe: 0, or 1. A subscription with 2 is made with "
        "1, since a message of 2 would be lost if the worker was killed.",
        between(0, 2),
    ),
    ConfigDef(
        "mqtt.clean.session.enabled",
        ConfigType.BOOLEAN,
        False,
        "Whether the MQTT broker forgets the session when the connector is away, and with it all "
        "messages of that time.",
        importance=Importance.LOW,
    ),
)

SINK_DEFINITIONS = Definitions(
    "MqttSink",
    *_CONNECTION,
    ConfigDef(
        "mqtt.qos",
        ConfigType.INT,
        1,
        "With which quality of service to publish. With 0 nobody says that a message has come.",
        between(0, 2),
    ),
    ConfigDef(
        "mqtt.retained.enabled",
        ConfigType.BOOLEAN,
        False,
        "Whether the MQTT broker keeps the last message of each topic for those who come later.",
    ),
    ConfigDef(
        "max.retry.time.ms",
        ConfigType.INT,
        30_000,
        "For how long to wait until the MQTT broker has taken a message.",
        at_least(1),
    ),
)


def check(config: Values, *needed: str) -> list[FieldError]:
    """Return what is missing or cannot be an address."""
    errors = [
        FieldError(name, f"a value is needed, such as {_EXAMPLES[name]}")
        for name in needed
        if not config.words(name)
    ]
    for uri in config.words("mqtt.server.uri"):
        try:
            server_of(uri)
        except ValueError as failure:
            errors.append(FieldError("mqtt.server.uri", str(failure)))
    return errors


_EXAMPLES = {"mqtt.server.uri": "tcp://localhost:1883", "mqtt.topics": "sensors/+/temperature"}
