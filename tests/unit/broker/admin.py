"""Calls a broker's handlers as a client would, without a socket in between."""

from __future__ import annotations

import dataclasses
from contextlib import asynccontextmanager
from datetime import timedelta
from inspect import isawaitable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from headwater.broker.apis import HANDLERS
from headwater.broker.authorizer import ALLOW_ALL
from headwater.broker.broker import Broker
from headwater.broker.config import BrokerConfig
from headwater.broker.requests.request import Request
from headwater.broker.session import Session
from headwater.protocol import messages
from headwater.protocol.frames import RequestHeader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from headwater.broker.authorizer import Authorizer
    from headwater.protocol.api_keys import ApiKey


class Admin:
    """A broker and a client that speaks any version of any API."""

    def __init__(self, broker: Broker, authorizer: Authorizer = ALLOW_ALL) -> None:
        self.broker = broker
        self.session = Session("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 5, authorizer)

    async def call(self, api_key: ApiKey, version: int, tree: dict[str, Any]) -> Any:
        """Send a request and return the response as plain dictionaries and lists."""
        body = messages.encode_request(api_key, version, tree)
        header = RequestHeader(api_key, version, 1, "test", 0)
        request = Request(header, memoryview(bytearray(body)), self.session)
        answer = HANDLERS[api_key](self.broker, request)
        if isawaitable(answer):
            answer = await answer
        if isinstance(answer, list):
            answer = b"".join(p if isinstance(p, bytes) else p.read() for p in answer)
        assert isinstance(answer, bytes)
        return _plain(messages.decode_response(api_key, version, memoryview(answer)))


@asynccontextmanager
async def running(directory: Path, **properties: str) -> AsyncIterator[Admin]:
    """Start a broker on a free port and stop it, cleanly, at the end."""
    settings = {name.replace("_", "."): value for name, value in properties.items()}
    config = BrokerConfig(
        {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(directory), **settings}
    )
    broker = Broker(config)
    await broker.start()
    try:
        yield Admin(broker)
    finally:
        await broker.stop()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    match value:
        case tuple():
            return [_plain(item) for item in value]
        case timedelta():
            return value // timedelta(milliseconds=1)
        case UUID():
            return value.bytes
        case _:
            return value
