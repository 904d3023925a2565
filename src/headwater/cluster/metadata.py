"""What a node says: that it is there, who its cluster's brokers are, which controller leads.

Asked in Kafka's own bytes of one chosen node: a client library would ask whichever node it likes,
and one that lags behind, or was cut off, is just what is looked for.
"""

from __future__ import annotations

import socket
import struct

_API_VERSIONS, _API_VERSIONS_VERSION = 18, 0
_METADATA, _METADATA_VERSION = 3, 1
_DESCRIBE_QUORUM, _DESCRIBE_QUORUM_VERSION = 55, 0
_CLIENT_ID = b"headwater-cluster"
_TOPIC = b"__cluster_metadata"
# Far more than a node of a local cluster has to say.
_LARGEST_ANSWER = 1 << 24


def check_alive(host: str, port: int, within_s: float = 5.0) -> None:
    """Return when a node, of whichever role, has answered; raises OSError if it is silent."""
    _ask(host, port, _API_VERSIONS, _API_VERSIONS_VERSION, b"", within_s)


def broker_ids(host: str, port: int, within_s: float = 5.0) -> frozenset[int]:
    """Return the brokers that this broker knows to be alive; raises OSError if it is silent."""
    no_topics = struct.pack(">i", 0)
    answer = _Reader(_ask(host, port, _METADATA, _METADATA_VERSION, no_topics, within_s))
    found = set()
    for _ in range(answer.int32()):
        found.add(answer.int32())
        answer.skip(answer.int16())  # host
        answer.int32()  # port
        answer.skip(max(answer.int16(), 0))  # rack
    return frozenset(found)


def quorum_leader(host: str, port: int, within_s: float = 5.0) -> int | None:
    """Return the controller that leads, as a broker learns it; None while there is none."""
    # Compact arrays and strings count from one, and every structure ends with its tags: none.
    body = b"\0\2" + bytes([len(_TOPIC) + 1]) + _TOPIC + b"\2" + struct.pack(">i", 0) + b"\0\0\0"
    try:
        raw = _ask(host, port, _DESCRIBE_QUORUM, _DESCRIBE_QUORUM_VERSION, body, within_s)
    except TimeoutError:
        return None  # a broker passes this on to the leader, and waits for one
    answer = _Reader(raw)
    answer.skip(1)  # the header's tags
    if answer.int16() != 0 or answer.uint8() != 2:
        return None
    answer.skip(answer.uint8() - 1)  # topic
    if answer.uint8() != 2:
        return None
    answer.int32()  # partition
    error, leader = answer.int16(), answer.int32()
    return leader if error == 0 and leader >= 0 else None


def _ask(host: str, port: int, api: int, version: int, body: bytes, within_s: float) -> bytes:
    head = struct.pack(">hhih", api, version, 1, len(_CLIENT_ID)) + _CLIENT_ID
    with socket.create_connection((host, port), within_s) as peer:
        peer.settimeout(within_s)
        peer.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
        (size,) = struct.unpack(">i", _read(peer, 4))
        if not 4 <= size <= _LARGEST_ANSWER:
            raise _not_kafka()
        return _read(peer, size)[4:]  # without the correlation id


def _read(peer: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionError("it hung up")
        data += part
    return bytes(data)


def _not_kafka() -> ConnectionError:
    return ConnectionError("it does not answer as Kafka does")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def uint8(self) -> int:
        return self._number(">B", 1)

    def int16(self) -> int:
        return self._number(">h", 2)

    def int32(self) -> int:
        return self._number(">i", 4)

    def skip(self, size: int) -> None:
        if size < 0:
            raise _not_kafka()
        self._at += size

    def _number(self, form: str, size: int) -> int:
        if self._at + size > len(self._data):
            raise _not_kafka()
        (number,) = struct.unpack_from(form, self._data, self._at)
        self._at += size
        return int(number)
