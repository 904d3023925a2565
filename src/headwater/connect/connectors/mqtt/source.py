"""The MQTT source: messages become records, acknowledged when these are in their topic."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

import headwater
from headwater.connect.connectors.connector import ConnectorError, ConnectorType, SourceRows
from headwater.connect.connectors.mqtt.session import Session
from headwater.connect.connectors.mqtt.settings import SOURCE_DEFINITIONS, check
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paho.mqtt.client import MQTTMessage
    from pyspark.sql import DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext, FieldError

_WAIT_S = 0.1
_MOST_MESSAGES = 10_000
_MOST_WAITING = 50_000
_SHAPE = Shape(Schema(Type.STRING), Schema(Type.BYTES))
_HEADERS = "mqtt.message.id", "mqtt.qos", "mqtt.retained", "mqtt.duplicate"


class MqttSourcePlugin:
    """Subscribes to topics of an MQTT broker."""

    class_names = (
        "io.confluent.connect.mqtt.MqttSourceConnector",
        "MqttSourceConnector",
        "MqttSource",
    )
    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = SOURCE_DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """The MQTT broker and topics of it have to be given."""
        return check(config, "mqtt.server.uri", "mqtt.topics")

    def open(self, config: Values, context: ConnectorContext) -> MqttSource:
        """Return a source that has subscribed."""
        if errors := self.check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return MqttSource(config, context)


class MqttSource:
    """Messages in the order in which they come.

    The MQTT broker knows what was acknowledged, so that there is no offset to be stored here.
    """

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._context = context
        self._topic = config.text("kafka.topic") or ""
        self._waiting: queue.Queue[MQTTMessage] = queue.Queue(_MOST_WAITING)
        self._polled: list[MQTTMessage] = []
        self._is_closed = threading.Event()
        self._session = Session(
            config,
            context,
            keeps_session=not config.boolean("mqtt.clean.session.enabled"),
            on_message=self._take,
        )
        try:
            # Of a message of quality 2, paho keeps the half-way state in memory alone.
            self._session.subscribe(config.words("mqtt.topics"), min(config.integer("mqtt.qos"), 1))
        except ConnectorError:
            self.close()
            raise

    def poll(self) -> Sequence[SourceRows]:
        """Return the messages that have come since."""
        self._session.check()
        messages: list[MQTTMessage] = []
        while len(messages) < _MOST_MESSAGES:
            try:
                messages.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        self._polled = messages
        return [SourceRows(self._frame(messages), _SHAPE, ())] if messages else ()

    def next_poll_s(self) -> float:
        """Return 0 while messages wait."""
        return _WAIT_S if self._waiting.empty() else 0.0

    def committed(self) -> None:
        """Acknowledge: now the MQTT broker may forget these messages."""
        for message in self._polled:
            if message.qos > 0:
                self._session.client.ack(message.mid, message.qos)
        self._polled = []

    def close(self) -> None:
        """Leave; what was not acknowledged comes again."""
        self._is_closed.set()
        self._session.close()

    def _take(self, message: MQTTMessage) -> None:
        # With too much waiting nothing is read from the socket, so that the sender waits, too.
        while not self._is_closed.is_set():
            try:
                self._waiting.put(message, timeout=_WAIT_S)
            except queue.Full:
                continue
            return

    def _frame(self, messages: Sequence[MQTTMessage]) -> DataFrame:
        import pyarrow as pa

        pair = pa.struct([("key", pa.string()), ("value", pa.binary())])
        rows = pa.table(
            {
                "topic": pa.array([self._topic] * len(messages), pa.string()),
                "key": pa.array([message.topic for message in messages], pa.string()),
                "value": pa.array([bytes(message.payload) for message in messages], pa.binary()),
                "headers": pa.array([_headers(each) for each in messages], pa.list_(pair)),
            }
        )
        return self._context.session.createDataFrame(rows).coalesce(1)


def _headers(message: MQTTMessage) -> list[dict[str, object]]:
    said = (message.mid, message.qos, message.retain, message.dup)
    texts = (str(each).lower().encode() for each in said)
    return [{"key": name, "value": text} for name, text in zip(_HEADERS, texts, strict=True)]
