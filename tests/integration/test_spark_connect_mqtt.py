"""The MQTT connectors with a real mosquitto, as docs/connect-mqtt.md has them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from tests.conftest import unmet
from tests.connector_runs import open_sink, open_source, page_configs, sink_batch
from tests.mosquitto import Mosquitto, is_installed
from tests.spark_session import spark
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from headwater.connect.connectors.connector import Source

__all__ = ["spark"]

PAGE = "connect-mqtt.md"
TEXT = Shape(value=Schema(Type.STRING))


@pytest.fixture(scope="module")
def mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    if not is_installed():
        unmet("mosquitto is not installed")
    server = Mosquitto(tmp_path_factory.mktemp("mosquitto"))
    server.start()
    yield server
    server.close()


class Device:
    """A device that publishes, and hears what others do."""

    def __init__(self, server: Mosquitto, *topics: str) -> None:
        self.heard: list[tuple[str, bytes, bool]] = []
        ready = threading.Event()
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self.client.on_message = lambda _client, _data, message: self.heard.append(
            (message.topic, bytes(message.payload), message.retain)
        )
        self.client.on_subscribe = lambda *_: ready.set()
        self.client.connect("127.0.0.1", server.port)
        self.client.loop_start()
        if topics:
            self.client.subscribe([(topic, 1) for topic in topics])
            assert ready.wait(HUNG_AFTER_S)

    def say(self, topic: str, *texts: str, qos: int = 1) -> None:
        for text in texts:
            self.client.publish(topic, text, qos).wait_for_publish(HUNG_AFTER_S)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def read(source: Source, count: int) -> list[tuple[str, str, bool]]:
    """Poll until so many messages were there: topic, text, and whether it came before."""
    found: list[tuple[str, str, bool]] = []

    def look() -> int:
        for rows in source.poll():
            for row in rows.frame.collect():
                headers = {each.key: bytes(each.value) for each in row.headers}
                came_before = headers["mqtt.duplicate"] == b"true"
                found.append((row.key, bytes(row.value).decode(), came_before))
        return len(found)

    wait_for(look, until=lambda there: there >= count)
    return found


def test_what_is_not_committed_comes_again_and_nothing_is_lost(
    spark: SparkSession, mosquitto: Mosquitto
) -> None:
    config = page_configs(PAGE, mqtt_server_uri=mosquitto.uri)["sensors"]
    source = open_source(spark, config)
    device = Device(mosquitto)
    device.say("sensors/7/temperature", "20.5", "21")
    device.say("sensors/7/humidity", "60")
    device.say("sensors/8/temperature", "19")
    first = read(source, 3)
    assert first == [
        ("sensors/7/temperature", "20.5", False),
        ("sensors/7/temperature", "21", False),
        ("sensors/8/temperature", "19", False),
    ]
    source.close()  # as if the worker was killed before it committed
    device.say("sensors/8/temperature", "18", qos=2)  # nobody listens
    again = open_source(spark, config)
    assert read(again, 4) == [
        *((topic, text, True) for topic, text, _ in first),
        ("sensors/8/temperature", "18", False),
    ]
    again.committed()
    again.close()

    # Also when the MQTT broker itself is away for a while.
    third = open_source(spark, config)
    device.close()
    mosquitto.stop()
    with pytest.raises(RetriableError, match="connection to the MQTT broker is lost"):
        wait_for(third.poll, until=lambda _rows: False)
    third.close()
    with pytest.raises(RetriableError, match="does not answer"):
        open_source(spark, config)
    mosquitto.start()
    device = Device(mosquitto)
    device.say("sensors/9/temperature", *(str(number) for number in range(100)))
    fourth = open_source(spark, config)
    assert [text for _, text, _ in read(fourth, 100)] == [str(number) for number in range(100)]
    fourth.committed()
    fourth.close()
    device.close()


def test_a_clean_session_forgets(spark: SparkSession, mosquitto: Mosquitto) -> None:
    config = page_configs(PAGE, mqtt_server_uri=mosquitto.uri)["sensors"]
    config |= {"mqtt.clean.session.enabled": "true", "mqtt.client.id": "forgetful"}
    open_source(spark, config).close()
    device = Device(mosquitto)
    device.say("sensors/7/temperature", "missed")
    source = open_source(spark, config)
    device.say("sensors/7/temperature", "seen", qos=0)
    assert [text for _, text, _ in read(source, 1)] == ["seen"]
    source.close()
    device.close()


def test_records_are_published(spark: SparkSession, mosquitto: Mosquitto) -> None:
    config = page_configs(PAGE, mqtt_server_uri=mosquitto.uri)["commands"]
    listener = Device(mosquitto, "commands")
    sink = open_sink(spark, config)
    texts = [f"go {number}" for number in range(2500)]
    sink.write(sink_batch(spark, TEXT, [(None, text) for text in texts], topic="commands"))
    sink.write(sink_batch(spark, TEXT, [(None, None)], topic="commands"))
    wait_for(lambda: len(listener.heard), until=lambda count: count >= len(texts) + 1)
    assert [payload.decode() for _, payload, _ in listener.heard] == [*texts, ""]
    sink.close()

    kept = open_sink(spark, config | {"mqtt.retained.enabled": "true", "mqtt.qos": "2"})
    kept.write(sink_batch(spark, TEXT, [(None, "stay")], topic="commands"))
    later = Device(mosquitto, "commands")
    assert wait_for(lambda: later.heard) == [("commands", b"stay", True)]
    number = Shape(value=Schema(Type.INT32))
    with pytest.raises(ConnectorError, match="text or bytes, and the records' values are int"):
        kept.write(sink_batch(spark, number, [(None, 1)], topic="commands"))
    mosquitto.stop()
    with pytest.raises(RetriableError):
        kept.write(sink_batch(spark, TEXT, [(None, "lost")], topic="commands"))
    kept.close()
    mosquitto.start()
    for each in (listener, later):
        each.close()
