"""Settings with which a producer reports what the broker said of a record that it did not take.

librdkafka tries for as long as a record's time allows, and then says only that time ran out. With
a number of retries that runs out a little earlier it reports what the broker said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT_NAMES = ("message.timeout.ms", "delivery.timeout.ms")
_RETRY_NAMES = ("message.send.max.retries", "retries")
# An idempotent producer's records may be lost in between if one gives up: it has to go on trying.
_ENDLESS = ("enable.idempotence", "transactional.id")
_LIBRDKAFKAS_TIMEOUT_MS = 300_000
# retry.backoff.ms, doubled up to retry.backoff.max.ms, and by how much each may be longer.
_FIRST_BACK_OFF_MS, _LONGEST_BACK_OFF_MS, _JITTER = 100, 1000, 1.2
# For the last answer to come back in.
_ANSWER_MS = 2000


def telling_why(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a producer's settings, with retries that end before a record's time does."""
    chosen = dict(settings)
    if any(name in chosen for name in (*_RETRY_NAMES, *_ENDLESS)):
        return chosen
    given = next((chosen[name] for name in _TIMEOUT_NAMES if name in chosen), None)
    timeout = str(_LIBRDKAFKAS_TIMEOUT_MS if given is None else given)
    # 0 is for ever; what is no number is refused by the client.
    if not timeout.isdecimal() or int(timeout) == 0:
        return chosen
    return chosen | {_RETRY_NAMES[0]: _retries(int(timeout))}


def _retries(timeout_ms: int) -> int:
    """Return how many retries fit into the time, at least one.

    >>> _retries(30_000)
    25
    """
    left = (timeout_ms - _ANSWER_MS) / _JITTER
    retries, back_off = 0, _FIRST_BACK_OFF_MS
    while left >= back_off and back_off < _LONGEST_BACK_OFF_MS:
        left -= back_off
        back_off = min(2 * back_off, _LONGEST_BACK_OFF_MS)
        retries += 1
    return max(1, retries + int(max(left, 0) // _LONGEST_BACK_OFF_MS))
