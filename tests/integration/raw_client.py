"""A client that speaks every version of every request, byte for byte as asked, over one socket."""

from __future__ import annotations

import dataclasses
import datetime
import io
import socket
import struct
import types
import typing
import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, Self

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer

if TYPE_CHECKING:
    from collections.abc import Mapping

API_KEYS: Mapping[str, int] = {name: key for key, name in api_key_map.items()}

# Only a hang takes as long, also when the machine has much else to do.
TIMEOUT_S = 180.0


class ConnectionClosedError(Exception):
    """The broker closed the connection instead of answering."""


class Listening(Protocol):
    """A broker of either make, as far as a connection to it is concerned."""

    port: int


class RawClient:
    """One connection. `call` sends a request and reads its answer; `send` and `receive` pipeline.

    A request's fields go by the names of the latest version; what a version does not know is
    left out, and what is not given gets the schema's default.
    """

    def __init__(
        self,
        broker: Listening,
        client_id: str | None = "raw",
        host: str = "127.0.0.1",
        source: str | None = None,
    ) -> None:
        self.client_id = client_id
        self.socket = socket.create_connection(
            (host, broker.port), TIMEOUT_S, source_address=None if source is None else (source, 0)
        )
        self._next_correlation_id = 1
        self._in_flight: deque[tuple[int, type[Any]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def call(self, api: str, version: int, **body: Any) -> Any:
        self.send(api, version, **body)
        return self.receive()

    def send(self, api: str, version: int, *, answered: bool = True, **body: Any) -> int:
        """Send without reading; `answered=False` for what gets no answer (acks=0)."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id += 1
        frame = request_frame(api, version, correlation_id, self.client_id, body)
        if answered:
            answer = load_response_schema(API_KEYS[api], version)
            self._in_flight.append((correlation_id, answer))
        self.send_frame(frame)
        return correlation_id

    def receive(self) -> Any:
        """The answer to the oldest request; answers come in the order of the requests."""
        expected, schema = self._in_flight.popleft()
        frame = self.receive_frame()
        header, position = entity_reader(schema.__header_schema__)(frame, 0)
        assert header.correlation_id == expected
        answer, size = entity_reader(schema)(frame, position)
        assert position + size == len(frame), "the answer is longer than its schema"
        return answer

    def send_frame(self, frame: bytes) -> None:
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def receive_frame(self) -> bytes:
        (length,) = struct.unpack(">i", self._receive_exactly(4))
        return self._receive_exactly(length)

    def is_closed_by_broker(self) -> bool:
        """Wait for the broker's next move: true if it hangs up, false if it says something."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _receive_exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                part = self.socket.recv(size - len(parts))
            except ConnectionError as error:
                raise ConnectionClosedError(str(error)) from error
            if not part:
                raise ConnectionClosedError(f"after {len(parts)} of {size} bytes")
            parts += part
        return bytes(parts)


def request_frame(
    api: str, version: int, correlation_id: int, client_id: str | None, body: Mapping[str, object]
) -> bytes:
    """A whole request without its length."""
    schema = load_request_schema(API_KEYS[api], version)
    header_schema: type[Any] = schema.__header_schema__
    header = header_schema(
        request_api_key=schema.__api_key__,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    buffer = io.BytesIO()
    entity_writer(header_schema)(buffer, header)
    entity_writer(schema)(buffer, build(schema, body))
    return buffer.getvalue()


def build(entity_type: type[Any], tree: Mapping[str, object]) -> Any:
    """An entity of one version out of plain values, nested mappings and lists."""
    hints = typing.get_type_hints(entity_type)
    values: dict[str, object] = {}
    for field in dataclasses.fields(entity_type):
        if field.name in tree:
            values[field.name] = _value(hints[field.name], tree[field.name])
        elif field.default is dataclasses.MISSING:
            values[field.name] = _empty(hints[field.name])
    return entity_type(**values)


def _value(hint: Any, given: Any) -> object:
    if given is None:
        return None
    hint = _without_none(hint)
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(_value(inner, item) for item in given)
    if dataclasses.is_dataclass(hint):
        return build(typing.cast("type[Any]", hint), given)
    if issubclass(hint, datetime.timedelta):
        return datetime.timedelta(milliseconds=given)
    if issubclass(hint, uuid.UUID):
        return given if isinstance(given, uuid.UUID) else uuid.UUID(bytes=given)
    return given


def _empty(hint: Any) -> object:
    if _without_none(hint) is not hint:
        return None
    if typing.get_origin(hint) is tuple:
        return ()
    if dataclasses.is_dataclass(hint):
        return build(typing.cast("type[Any]", hint), {})
    for kind in (bool, int, str, bytes, datetime.timedelta):
        if issubclass(hint, kind):
            return kind()
    raise TypeError(f"no empty value for {hint}")


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = [argument for argument in typing.get_args(hint) if argument is not type(None)]
    return hint
