"""Tokens that clients log in with."""

from __future__ import annotations

import time

import pytest

from headwater.clients.bearer_token import BearerToken, TokenSource
from headwater.clients.errors import ClientError


def test_a_source_hands_out_the_newest_token_until_it_has_expired() -> None:
    now = time.time()
    source = TokenSource(BearerToken("old", {}, now - 1))
    with pytest.raises(ClientError, match="the token has expired"):
        source("")
    source.renew(BearerToken("new", {}, now + 60))
    assert source("") == ("new", now + 60)
