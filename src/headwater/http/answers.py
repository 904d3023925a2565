"""What a handler returns: bytes that are there, or a stream of them that is still to come."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterable, Callable

    from headwater.http.errors import HttpError

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

JSON = "application/json"
NDJSON = "application/x-ndjson"
SERVER_SENT_EVENTS = "text/event-stream"


class Answer(NamedTuple):
    """Bytes; the content type is negotiated unless it is given."""

    body: bytes
    status: int = 200
    content_type: str | None = None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """Chunks as they come, until there are no more or the client goes away.

    Each chunk is sent at once, and the next one is asked for when the client has taken it. Where
    the client goes away, the iterator is closed: `finally` blocks and `async with` of a generator
    run, and nothing else notices. A server that stops waits for the end of a stream, but for those
    that have none: it ends these. It ends others when `until` is set. `on_close` is called when
    nothing more will be sent, also where the client left before the iterator was begun, whose
    `finally` blocks do not run then.
    """

    chunks: AsyncIterable[bytes]
    content_type: str = NDJSON
    status: int = 200
    headers: Headers = ()
    is_endless: bool = False
    until: asyncio.Event | None = None
    on_close: Callable[[], None] | None = None


Reply: TypeAlias = Answer | Stream


def answer(value: Any, status: int = 200) -> Answer:
    """Return a value as JSON."""
    return Answer(encode(value), status)


def plain(text: str) -> Answer:
    """Return a text as it is."""
    return Answer(text.encode("utf-8", "surrogatepass"))


def error(failure: HttpError) -> Answer:
    """Return an error as Confluent's services write it."""
    value = {"error_code": failure.code, "message": failure.message}
    return Answer(encode(value), failure.status, headers=failure.headers)


def encode(value: Any) -> bytes:
    """Return a value as compact JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Half of a surrogate pair, from an escape in a client's JSON: only escapes can carry it.
        return json.dumps(value, separators=(",", ":")).encode()


def json_line(value: Any) -> bytes:
    """Return a value as one line of a stream of JSON."""
    return encode(value) + b"\n"


def server_sent_event(data: Any, *, event: str = "", id_: str = "") -> bytes:
    """Return a value, or a text, as one event for a browser's EventSource."""
    text = data if isinstance(data, str) else encode(data).decode("utf-8", "surrogatepass")
    lines = [f"{name}: {value}" for name, value in (("event", event), ("id", id_)) if value]
    lines += [f"data: {line}" for line in text.splitlines() or [""]]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "surrogatepass")
