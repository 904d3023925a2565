"""The time to wait, put into every response that kio can write."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocol.kio_oracle import FEW, read, responses, versions, write

from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.throttle_time import with_throttle_time


@pytest.mark.parametrize(("key", "version"), versions(*SERVED))
def test_the_time_is_set_and_nothing_else_changes(key: ApiKey, version: int) -> None:
    @FEW
    @given(responses(key, version), st.integers(1, 2**31 - 1))
    def check(response: Any, milliseconds: int) -> None:
        names = {field.name for field in fields(response)}
        if key is ApiKey.PRODUCE and "node_endpoints" in names:
            response = replace(response, node_endpoints=())  # the broker never names any
        body = write(response)
        expected = response
        if "throttle_time" in names:
            expected = replace(response, throttle_time=timedelta(milliseconds=milliseconds))
        patched = with_throttle_time(key, version, body, milliseconds)
        assert read(type(response), patched) == expected

    check()


def test_an_answer_to_an_unknown_version_is_left_alone() -> None:
    """It is in the first version, which every client can read and which has no such field."""
    body = b"\x00\x23\x00\x00\x00\x00"
    assert with_throttle_time(ApiKey.API_VERSIONS, 99, body, 1000) == body
