"""Producers give up in time to tell what the broker said."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.clients.producing import telling_why

RETRIES = "message.send.max.retries"


@pytest.mark.parametrize(
    ("settings", "retries"),
    [
        ({"message.timeout.ms": 30_000}, 25),
        ({"delivery.timeout.ms": "5000"}, 5),
        ({"message.timeout.ms": 100}, 1),
        ({}, 250),  # librdkafka's own five minutes
    ],
)
def test_retries_end_before_the_records_time_does(settings: dict[str, Any], retries: int) -> None:
    told = telling_why(settings)
    assert told[RETRIES] == retries
    assert told == {**settings, RETRIES: retries}


@pytest.mark.parametrize(
    "settings",
    [
        {RETRIES: "3"},
        {"retries": "3"},
        {"enable.idempotence": "true"},
        {"transactional.id": "me"},
        {"message.timeout.ms": "0"},
        {"message.timeout.ms": "soon"},
    ],
)
def test_who_chooses_retries_or_needs_all_of_them_is_left_alone(settings: dict[str, str]) -> None:
    assert telling_why(settings) == settings
