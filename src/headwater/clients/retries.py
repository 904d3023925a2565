"""Which failures pass by themselves, which no retry cures, and how long to try."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

# One answer may be slow; the next attempt may go to the broker that has taken over.
ATTEMPT_WITHIN_S = 5.0
# As long as Kafka's own tools do by default (default.api.timeout.ms).
RETRY_WITHIN_S = 60.0
# As retry.backoff.ms.
PAUSE_S = 0.1

# A coordinator or a leader is being found, moved or loaded, or nobody has missed the dead one yet.
PASSING = frozenset(
    {
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_FOR_PARTITION",
        "OFFSET_NOT_AVAILABLE",
        "REQUEST_TIMED_OUT",
        "NETWORK_EXCEPTION",
        "_TIMED_OUT",
        "_TRANSPORT",
        "_WAIT_COORD",
        "_ALL_BROKERS_DOWN",
        "_DESTROY_BROKER",
    }
)

# No use in trying again: the broker answered, and will not let this client in.
HOPELESS = frozenset({"_AUTHENTICATION", "_SSL", "SASL_AUTHENTICATION_FAILED"})

# The service is overloaded, starting, or cannot reach its leader: another one may do better.
PASSING_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
_FIRST_BACK_OFF_S, _LONGEST_BACK_OFF_S = 0.1, 2.0


def back_off_s(attempt: int) -> float:
    """Return how long to wait before the attempt of this number, from 1 on; never the same twice.

    Clients that failed together should not come back together.
    """
    longest = min(_FIRST_BACK_OFF_S * (1 << (attempt - 1)), _LONGEST_BACK_OFF_S)
    return longest * random.uniform(0.5, 1.0)


def retry(attempt: Callable[[], Result], within_s: float = RETRY_WITHIN_S) -> Result:
    """Return what an attempt returns at last; raises the KafkaException that does not pass."""
    from confluent_kafka import KafkaException

    deadline = time.monotonic() + within_s
    while True:
        try:
            return attempt()
        except KafkaException as failure:
            if failure.args[0].name() not in PASSING or time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_S)
