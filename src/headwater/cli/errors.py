"""Failures as a user reads them: one sentence that says what was wrong and what to do."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from confluent_kafka import KafkaError


class CommandError(click.ClickException):
    """A command failed while running: exit code 1, the message on standard error."""


class UnreachableError(CommandError):
    """No broker answered."""

    def __init__(self, bootstrap_server: str, timeout_s: float, reason: str | None) -> None:
        because = f" ({reason})" if reason else ""
        super().__init__(
            f"no broker answered at {bootstrap_server} within {timeout_s:g} s{because}. "
            "Is it running? Start one with: headwater broker"
        )


class UnknownTopicError(CommandError):
    """The cluster has no topic of this name; close names are suggested."""

    def __init__(self, topic: str, known: Iterable[str]) -> None:
        close = difflib.get_close_matches(topic, sorted(known), n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else "See: headwater topics list"
        super().__init__(f"there is no topic '{topic}'. {hint}")


def describe(error: KafkaError) -> str:
    """Return a client error as a sentence with Kafka's name for it at the end."""
    text = str(error.str()).removeprefix("Broker: ").removeprefix("Local: ").rstrip(".")
    return f"{text} ({error.name()})"
