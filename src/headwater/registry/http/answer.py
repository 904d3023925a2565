"""Answers: a status, a body, and the content type that the client asked for."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

V1_JSON = "application/vnd.schemaregistry.v1+json"
DEFAULT_JSON = "application/vnd.schemaregistry+json"
JSON = "application/json"
OFFERED = (V1_JSON, DEFAULT_JSON, JSON)
ACCEPTED = frozenset((*OFFERED, "application/octet-stream"))


class Answer(NamedTuple):
    """What a client gets; the content type is negotiated unless it is given."""

    body: bytes
    status: int = 200
    content_type: str | None = None


def answer(value: Any, status: int = 200) -> Answer:
    """Return a value as JSON."""
    try:
        return Answer(msgspec.json.encode(value), status)
    except UnicodeEncodeError:
        # Half of a surrogate pair, from an escape in a client's JSON: only escapes can carry it.
        return Answer(json.dumps(value, separators=(",", ":")).encode(), status)


def plain(text: str) -> Answer:
    """Return a text as it is."""
    return Answer(text.encode("utf-8", "surrogatepass"))


def error(code: int, message: str, status: int) -> Answer:
    """Return an error as clients know it."""
    return answer({"error_code": code, "message": message}, status)


@lru_cache(256)
def negotiate(accept: bytes | None) -> str | None:
    """Return the content type to answer with; None if the client takes none of ours."""
    if accept is None or not accept.strip():
        return V1_JSON
    best: tuple[float, int, str] | None = None
    for part in accept.decode("latin-1").split(","):
        media, *parameters = (each.strip().lower() for each in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        for rank, offered in enumerate(OFFERED):
            if quality > 0 and media in (offered, "application/*", "*/*"):
                found = (-quality, rank, offered)
                best = found if best is None else min(best, found)
    return None if best is None else best[2]


def is_accepted(content_type: bytes | None) -> bool:
    """Return whether a request's body may be of this type."""
    if content_type is None:
        return True
    media = content_type.decode("latin-1").split(";")[0].strip().lower()
    return media in ACCEPTED or not media
