"""Failures as a user reads them: one sentence that says what was wrong and what to do."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from headwater.clients.errors import (
    ClientError,
    InvalidPropertiesError,
    InvalidTopicNameError,
    describe,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class CommandError(click.ClickException):
    """A command failed while running: exit code 1, the message on standard error."""


@contextmanager
def client_failures() -> Iterator[None]:
    """Turn what Kafka's clients report into failures of the command, or of how it was typed."""
    from confluent_kafka import KafkaException

    try:
        yield
    except KafkaException as failure:
        raise CommandError(describe(failure.args[0])) from None
    except ClientError as failure:
        raise CommandError(str(failure)) from None
    except (InvalidPropertiesError, InvalidTopicNameError) as failure:
        raise click.UsageError(str(failure)) from None
