"""Content negotiation by RFC 9110, and as clients of Confluent's services know it."""

from __future__ import annotations

import pytest

from headwater.http.media_types import MediaTypes

V1, PLAIN = "application/vnd.x.v1+json", "application/json"
MEDIA = MediaTypes((V1, PLAIN), taken=("application/octet-stream",))


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, V1),
        (b"*", V1),
        (b"*;q=0.1, application/json", PLAIN),
        (b"*/x", V1),
        (b"application/*", V1),
        (b"text/*", None),
        (b"text/*, */*;q=0.1", V1),
        (b"APPLICATION/JSON", PLAIN),
    ],
)
def test_what_a_client_wants(accept: bytes | None, expected: str | None) -> None:
    assert MEDIA.negotiate(accept) == expected


def test_what_a_client_may_send() -> None:
    assert MEDIA.default == V1
    for kind in (None, b"", b"application/json; charset=utf-8", b"application/octet-stream"):
        assert MEDIA.takes(kind)
    assert not MEDIA.takes(b"text/xml")
