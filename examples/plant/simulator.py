"""Sensors and motors that send what they measure and do, as Avro through the registry."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.clients import ClusterAccess
from headwater.serde import AvroSerializer, SchemaRegistryClient

TOPIC = "myPlant"
METADATA = "metadata"
SCHEMAS = Path(__file__).parent / "schemas"
HIGHEST = 1_000_000
EVERY_S = 0.3

# The odds of a motor's next state; it looks for one about once a second.
MOTOR_STATES = {
    "stopped": {"starting": 0.3},
    "starting": {"running": 0.8, "error": 0.05},
    "running": {"stopping": 0.1, "error": 0.01},
    "stopping": {"stopped": 0.7},
    "error": {"stopped": 0.2},
}


class Sensor(NamedTuple):
    """A sensor, and what is known of it."""

    id: str
    unit: str
    place: str


SENSORS = (
    Sensor("furnace-temperature", "m°C", "furnace"),
    Sensor("flue-gas-pressure", "Pa", "chimney"),
    Sensor("steam-flow", "g/s", "boiler"),
    Sensor("turbine-power", "W", "turbine hall"),
    Sensor("bio-gas-level", "ppm", "fermenter"),
)
MOTORS = ("grate-drive", "feed-crane", "fan")


class Simulator:
    """The plant: a thread that writes to the topic until it is stopped."""

    def __init__(self, bootstrap_servers: str, registry_url: str, seed: int | None = None) -> None:
        self.sent = 0
        self.failed = 0
        self._random = random.Random(seed)
        self._registry = SchemaRegistryClient(registry_url)
        self._producer = Producer({**ClusterAccess(bootstrap_servers).producer(), "linger.ms": 5})
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers})
        self._measurement = self._serializer("measurement")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plant")

    def prepare(self) -> None:
        """Create the topics, register the schemas, and tell what is known of the sensors."""
        compacted = {"cleanup.policy": "compact"}
        # A few records a second: one partition, and one task that reads it and keeps the state.
        topics = [NewTopic(TOPIC, 1, 1), NewTopic(METADATA, 1, 1, config=compacted)]
        for done in self._admin.create_topics(topics).values():
            done.result(30)
        known = self._serializer("metadata")
        for sensor in SENSORS:
            value = known({"unit": sensor.unit, "place": sensor.place}, METADATA)
            self._producer.produce(METADATA, value, sensor.id)
        self._measure(SENSORS[0].id, 1)
        self._producer.flush(30)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Stop sending, wait until all is written, and hang up."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._producer.flush(30)
        # Clients that outlive their broker complain; these end with their last reference.
        del self._producer, self._admin

    def _run(self) -> None:
        levels = {sensor.id: self._random.uniform(0.3, 0.7) for sensor in SENSORS}
        motors = dict.fromkeys(MOTORS, "stopped")
        while not self._stop.wait(EVERY_S):
            for name, level in levels.items():
                drift = 0.1 * (0.5 - level) + self._random.gauss(0, 0.09)
                levels[name] = min(1.0, max(0.0, level + drift))
                self._measure(name, 1 + int(levels[name] * (HIGHEST - 1)))
            for name, state in motors.items():
                following = self._next_state(state)
                if following != state:
                    motors[name] = following
                    self._measure(name, following)
            self._producer.poll(0)

    def _next_state(self, state: str) -> str:
        drawn = self._random.random() / EVERY_S
        for following, odds in MOTOR_STATES[state].items():
            if drawn < odds:
                return following
            drawn -= odds
        return state

    def _measure(self, name: str, value: int | str) -> None:
        record = {"sensor_id": name, "datetime": int(time.time() * 1000), "value": value}
        data = self._measurement(record, TOPIC)
        self._producer.produce(TOPIC, data, name, on_delivery=self._count)

    def _count(self, error: object, _message: object) -> None:
        if error is None:
            self.sent += 1
        else:
            self.failed += 1

    def _serializer(self, schema: str) -> AvroSerializer:
        return AvroSerializer(self._registry, (SCHEMAS / f"{schema}.avsc").read_text())
