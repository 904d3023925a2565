"""The MQTT sink: each record is published to the topic of the MQTT broker that has its name."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import headwater
from headwater.connect.connectors.connector import ConnectorError, ConnectorType, RetriableError
from headwater.connect.connectors.mqtt.session import Session
from headwater.connect.connectors.mqtt.settings import SINK_DEFINITIONS, check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paho.mqtt.client import MQTTMessageInfo

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        FieldError,
        SinkBatch,
        TopicPartition,
    )

_PAYLOADS = {"string": "encode(value, 'UTF-8')", "binary": "value"}
_MOST_ON_THE_WAY = 1000
_PAUSE_S = 0.2


class MqttSinkPlugin:
    """Publishes to an MQTT broker."""

    class_names = (
        "io.confluent.connect.mqtt.MqttSinkConnector",
        "MqttSinkConnector",
        "MqttSink",
    )
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = SINK_DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """The MQTT broker has to be given."""
        return check(config, "mqtt.server.uri")

    def open(self, config: Values, context: ConnectorContext) -> MqttSink:
        """Return a sink that is connected."""
        if errors := self.check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return MqttSink(config, context)


class MqttSink:
    """Publishes, and waits until the MQTT broker has taken all; after a crash some come twice."""

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._qos = config.integer("mqtt.qos")
        self._is_retained = config.boolean("mqtt.retained.enabled")
        self._within_s = config.integer("max.retry.time.ms") / 1000
        self._is_closed = threading.Event()
        # Records come again from their topic: there is no need for a session that lasts.
        self._session = Session(
            config, context, keeps_session=False, most_on_the_way=_MOST_ON_THE_WAY
        )

    def write(self, batch: SinkBatch) -> None:
        """Publish a batch."""
        self._session.check()
        kind = batch.frame.schema["value"].dataType.typeName()
        if kind not in _PAYLOADS:
            raise ConnectorError(
                f"a message of MQTT is text or bytes, and the records' values are {kind}: take "
                "StringConverter or ByteArrayConverter as value.converter"
            )
        rows = batch.frame.selectExpr("topic", f"{_PAYLOADS[kind]} AS payload")
        for part in rows.toArrow().to_batches(_MOST_ON_THE_WAY):
            sent = [self._publish(row["topic"], row["payload"] or b"") for row in part.to_pylist()]
            self._wait_for(sent)

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Do nothing: it remembers no positions."""

    def close(self) -> None:
        """Leave."""
        self._is_closed.set()
        self._session.close()

    def _publish(self, topic: str, payload: bytes) -> MQTTMessageInfo:
        sent = self._session.client.publish(topic, payload, self._qos, self._is_retained)
        if sent.rc != 0:
            self._session.check()
            raise RetriableError(f"the MQTT broker does not take messages: {sent.rc.name}")
        return sent

    def _wait_for(self, sent: list[MQTTMessageInfo]) -> None:
        deadline = time.monotonic() + self._within_s
        for each in sent:
            while not each.is_published():
                self._session.check()
                if self._is_closed.is_set() or time.monotonic() > deadline:
                    raise RetriableError("the MQTT broker does not take messages")
                each.wait_for_publish(_PAUSE_S)
