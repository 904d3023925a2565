"""The REST proxy's settings: Confluent's names, and whose clients they are for."""

from __future__ import annotations

import pytest

from headwater.config import ConfigError
from headwater.rest.config import RestConfig


def config(*given: str) -> RestConfig:
    found = RestConfig.from_settings(dict(each.split("=", 1) for each in given))
    found.check()
    return found


def test_defaults_are_confluents() -> None:
    made = config()
    assert (made.host, made.port) == ("127.0.0.1", 8082)
    assert (made.request_timeout_s, made.instance_timeout_s) == (1.0, 300.0)
    assert (made.fetch_min_bytes, made.request_max_bytes) == (-1, 64 << 20)
    assert made.producer_settings()["enable.idempotence"] is True


def test_clients_get_their_settings() -> None:
    made = config(
        "bootstrap.servers=PLAINTEXT://kafka:9092,other:9092",
        "client.security.protocol=SSL",
        "producer.linger.ms=7",
        "producer.max.block.ms=100",
        "producer.buffer.memory=2000",
        "consumer.isolation.level=read_committed",
        "schema.registry.url=http://sr:1",
        "schema.registry.basic.auth.user.info=ada:secret",
        "listeners=http://0.0.0.0:80",
    )
    producer, consumer = made.producer_settings(), made.consumer_settings()
    assert producer["bootstrap.servers"] == "kafka:9092,other:9092"
    assert (producer["linger.ms"], producer["security.protocol"]) == ("7", "SSL")
    assert not {"max.block.ms", "buffer.memory"} & producer.keys()
    assert (made.max_block_s, made.buffer_memory) == (0.1, 2000)
    assert consumer["isolation.level"] == "read_committed"
    assert "linger.ms" not in consumer
    assert (made.registry_access.urls, made.registry_access.username) == (("http://sr:1",), "ada")


@pytest.mark.parametrize(
    "setting",
    [
        "fetch.min.bytes=-2",
        "consumer.instance.timeout.ms=soon",
        "producer.buffer.memory=much",
        "ssl.key.location=key.pem",
        "listeners=8082",
        "bootstrap.server=kafka:9092",
    ],
)
def test_what_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError):
        config(setting)
