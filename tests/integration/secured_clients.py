"""Four clients, each given the same access in its own words, that write a record and read it."""

from __future__ import annotations

import asyncio
import base64
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider as AiokafkaTokens
from aiokafka.helpers import create_ssl_context
from kafka import KafkaConsumer, KafkaProducer
from kafka.net.sasl.oauth import AbstractTokenProvider as KafkaPythonTokens
from tests.integration import kafkajs_client

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WITHIN_S = 60


class Access(NamedTuple):
    """How to get in: files in PEM, and a user's name and password."""

    servers: str
    protocol: str
    authority: Path | None = None
    certificate: Path | None = None
    mechanism: str | None = None
    user: str | None = None
    password: str | None = None
    token: str | None = None

    def librdkafka(self) -> dict[str, str]:
        given = {
            "bootstrap.servers": self.servers,
            "security.protocol": self.protocol,
            "ssl.ca.location": self.authority,
            "ssl.certificate.location": self.certificate,
            "ssl.key.location": self.certificate,
            "sasl.mechanism": self.mechanism,
            "sasl.username": self.user,
            "sasl.password": self.password,
        }
        return {name: str(value) for name, value in given.items() if value is not None}

    def confluent(self) -> dict[str, Any]:
        """What librdkafka takes, and what fetches the token."""
        given: dict[str, Any] = dict(self.librdkafka())
        if self.token is not None:
            given["oauth_cb"] = lambda _: (self.token, time.time() + 3600)
        return given

    def python(self) -> dict[str, Any]:
        given = {
            "bootstrap_servers": self.servers,
            "security_protocol": self.protocol,
            "sasl_mechanism": self.mechanism,
            "sasl_plain_username": self.user,
            "sasl_plain_password": self.password,
        }
        return {name: value for name, value in given.items() if value is not None}


class KafkaPythonToken(KafkaPythonTokens):  # type: ignore[misc]
    """A token that kafka-python asks for."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token


class AiokafkaToken(AiokafkaTokens):  # type: ignore[misc]
    """A token that aiokafka asks for."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        return self._token


def by_confluent(access: Access, topic: str, value: bytes) -> bytes:
    producer = confluent_kafka.Producer(access.confluent())
    producer.produce(topic, value)
    assert producer.flush(WITHIN_S) == 0
    consumer = confluent_kafka.Consumer({**access.confluent(), "group.id": topic})
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        message = consumer.poll(WITHIN_S)
        assert message is not None
        assert message.error() is None, message.error()
        read: bytes = message.value()
        return read
    finally:
        consumer.close()


def by_kafka_python(access: Access, topic: str, value: bytes) -> bytes:
    given = access.python()
    if access.token is not None:
        given["sasl_oauth_token_provider"] = KafkaPythonToken(access.token)
    if access.authority is not None:
        given["ssl_cafile"] = str(access.authority)
    if access.certificate is not None:
        given["ssl_certfile"] = given["ssl_keyfile"] = str(access.certificate)
    producer = KafkaProducer(**given, enable_idempotence=False)
    try:
        producer.send(topic, value).get(timeout=WITHIN_S)
    finally:
        producer.close()
    consumer = KafkaConsumer(
        topic,
        **given,
        auto_offset_reset="earliest",
        group_id=None,
        consumer_timeout_ms=WITHIN_S * 1000,
    )
    try:
        read: bytes = next(consumer).value
        return read
    finally:
        consumer.close()


def by_aiokafka(access: Access, topic: str, value: bytes) -> bytes:
    async def run() -> bytes:
        given = access.python()
        if access.token is not None:
            given["sasl_oauth_token_provider"] = AiokafkaToken(access.token)
        if access.authority is not None:
            certificate = None if access.certificate is None else str(access.certificate)
            given["ssl_context"] = create_ssl_context(
                cafile=str(access.authority), certfile=certificate, keyfile=certificate
            )
        producer = AIOKafkaProducer(**given)
        await producer.start()
        try:
            await producer.send_and_wait(topic, value)
        finally:
            await producer.stop()
        consumer = AIOKafkaConsumer(topic, **given, auto_offset_reset="earliest")
        await consumer.start()
        try:
            record = await asyncio.wait_for(consumer.getone(), WITHIN_S)
            read: bytes = record.value
            return read
        finally:
            await consumer.stop()

    return asyncio.run(run())


def by_kafkajs(access: Access, topic: str, value: bytes) -> bytes:
    given: dict[str, Any] = {"topic": topic, "partition": 0}
    if access.authority is not None:
        given["ssl"] = {"ca": [access.authority.read_text()]}
    if access.certificate is not None:
        both = access.certificate.read_text()
        given["ssl"] |= {"key": both, "cert": both}
    if access.token is not None:
        given["sasl"] = {"token": access.token}
    elif access.mechanism is not None:
        names = {"username": access.user, "password": access.password}
        given["sasl"] = {"mechanism": access.mechanism.lower(), **names}
    message: dict[str, object] = {
        "key": None,
        "value": kafkajs_client.encoded(value),
        "timestamp": 0,
        "headers": [],
    }
    kafkajs_client.run(
        "produce", access.servers, **given, codec="none", acks=-1, messages=[message]
    )
    (read,) = kafkajs_client.run("consume", access.servers, **given, offset=0, count=1)
    return base64.b64decode(read["value"])


CLIENTS: dict[str, Callable[[Access, str, bytes], bytes]] = {
    "confluent-kafka": by_confluent,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
    "kafkajs": by_kafkajs,
}
CLIENT_NAMES = [
    pytest.param(name, marks=[pytest.mark.needs("node", "npm")] if name == "kafkajs" else [])
    for name in CLIENTS
]
