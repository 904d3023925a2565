"""What Kafka's clients complain about, in the log, and not a hundred times a second."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

logger = logging.getLogger("headwater.clients")

QUIET_S = 30.0

_last_noted: dict[str, float] = {}


def note_error(error: KafkaError) -> None:
    """Log an error, if the same kind was not logged a moment ago by another client."""
    now = time.monotonic()
    name = error.name()
    if now - _last_noted.get(name, -QUIET_S) >= QUIET_S:
        _last_noted[name] = now
        logger.warning("Kafka's client: %s", error.str())
