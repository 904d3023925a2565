"""What keeps clients from their answers: each error is one sentence that says what to do."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from confluent_kafka import KafkaError


class InvalidPropertiesError(ValueError):
    """Client settings cannot be used; the message says which name, and why."""


class InvalidTopicNameError(ValueError):
    """Kafka would refuse this name of a topic."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"'{topic}' is no topic name: up to 249 letters, digits, '.', '_' and '-' make one"
        )


class ClientError(Exception):
    """A cluster did not answer, or not with what was asked for."""


class UnreachableError(ClientError):
    """No broker answered."""

    def __init__(self, bootstrap_servers: str, timeout_s: float, reason: str | None) -> None:
        because = f" ({reason})" if reason else ""
        super().__init__(
            f"no broker answered at {bootstrap_servers} within {timeout_s:g} s{because}. "
            "Is it running? Start one with: headwater broker"
        )


class RefusedError(ClientError):
    """A broker answered and does not let this client in, however often it asks."""

    def __init__(self, bootstrap_servers: str, reason: str) -> None:
        super().__init__(
            f"{bootstrap_servers} refused the connection: {reason}. Security settings are given "
            "with --command-config, or in a program with App(kafka=...)"
        )


class UnknownTopicError(ClientError):
    """The cluster has no topic of this name; close names are suggested."""

    def __init__(self, topic: str, known: Iterable[str]) -> None:
        close = difflib.get_close_matches(topic, sorted(known), n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else "See: headwater topics list"
        super().__init__(f"there is no topic '{topic}'. {hint}")


def describe(error: KafkaError) -> str:
    """Return a client error as a sentence with Kafka's name for it at the end."""
    text = str(error.str()).removeprefix("Broker: ").removeprefix("Local: ").rstrip(".")
    return f"{text} ({error.name()})"


def cause_of(error: KafkaError) -> str:
    """Return why a connection failed, without librdkafka's account of its own state."""
    text = str(error.str())
    # "host:port/bootstrap: Connect to ipv4#... failed: Connection refused (after 0ms in state ...)"
    text = re.sub(r" \(after \d+ms in state \w+.*\)$", "", text)
    text = text.split("/bootstrap: ", 1)[-1]
    return re.sub(r"^Connect to \S+ failed: ", "", text)
