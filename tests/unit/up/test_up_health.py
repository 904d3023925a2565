"""Health checks against servers that answer well, badly, late or not at all."""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING

import pytest
from tests.certificates import certificate_for_loopback
from tests.unit.http.running_app import RunningApp, app_of

from headwater.cluster.node import Node
from headwater.http.tls import ClientAuthentication, server_context
from headwater.up.health import (
    ANSWER_WITHIN_S,
    HealthCheck,
    HttpCheck,
    KafkaCheck,
    UnhealthyError,
    UnresponsiveError,
)
from headwater.up.services.kafka import NodeCheck

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KAFKA = struct.pack(">iihi", 10, 1, 0, 0)


def ask(
    make: Callable[[str, int], HealthCheck], answer: bytes | None, within_s: float = ANSWER_WITHIN_S
) -> bytes:
    """Check a server that answers like this (None: never); returns what it was asked."""
    asked = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.extend(await reader.read(1000))
        if answer is not None:
            writer.write(answer)
            writer.close()
        else:
            await reader.read()
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            host, port = server.sockets[0].getsockname()
            await make(host, port).check(within_s)

    asyncio.run(run())
    return bytes(asked)


def https(host: str, port: int) -> HealthCheck:
    return HttpCheck(host, port, tls=True)


def broker_node(host: str, port: int) -> HealthCheck:
    return NodeCheck(Node(1, ("broker",), host, port))


def controller_node(host: str, port: int) -> HealthCheck:
    return NodeCheck(Node(101, ("controller",), host, port))


def test_a_broker_is_asked_for_its_versions() -> None:
    asked = ask(KafkaCheck, KAFKA)
    assert struct.unpack(">ihhih", asked[:14]) == (len(asked) - 4, 18, 0, 1, len(asked) - 14)


@pytest.mark.parametrize("status", [b"1.1 200 OK", b"1.0 204", b"1.1 401 Unauthorized"])
def test_http_success(status: bytes) -> None:
    answer = b"HTTP/" + status + b"\r\n\r\n"
    asked = ask(lambda host, port: HttpCheck(host, port, "/health"), answer)
    assert asked.startswith(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:")


@pytest.mark.parametrize(
    ("make", "answer", "reason"),
    [
        (KafkaCheck, struct.pack(">iihi", 10, 1, 35, 0), "error 35; is it a broker?"),
        (KafkaCheck, struct.pack(">iihi", 10, 9, 0, 0), "is it a broker?"),
        (KafkaCheck, b"", "it hung up"),
        (KafkaCheck, b"short", "it hung up"),
        (HttpCheck, b"HTTP/1.1 503 Unavailable\r\n\r\n", "HTTP 503 on /"),
        (HttpCheck, b"SSH-2.0\r\n", "it does not speak HTTP"),
        (HttpCheck, b"", "it does not speak HTTP"),
        (HttpCheck, b"x" * 100_000, "it does not speak HTTP"),
        (https, b"HTTP/1.1 200 OK\r\n\r\n", "TLS: .*(version|record)"),
        (broker_node, b"HTTP/1.1 400 Bad Request\r\n\r\n", "it does not answer as Kafka does"),
        (broker_node, struct.pack(">i", -1), "it does not answer as Kafka does"),
        (broker_node, struct.pack(">iii", 8, 1, 1), "it does not answer as Kafka does"),
        (broker_node, struct.pack(">iii", 8, 1, 0), "the cluster does not know it yet"),
        (controller_node, struct.pack(">i", 3) + b"abc", "it does not answer as Kafka does"),
        (controller_node, b"", "it hung up"),
    ],
)
def test_answers_that_are_not_healthy(
    make: Callable[[str, int], HealthCheck], answer: bytes, reason: str
) -> None:
    with pytest.raises(UnhealthyError, match=reason.replace("?", r"\?")):
        ask(make, answer)


@pytest.mark.parametrize("make", [KafkaCheck, HttpCheck])
def test_no_answer(make: Callable[[str, int], HealthCheck]) -> None:
    with pytest.raises(UnresponsiveError, match=r"no answer within 0\.1 s"):
        ask(make, None, within_s=0.1)


@pytest.mark.parametrize("make", [KafkaCheck, HttpCheck])
def test_nobody_there(make: Callable[[str, int], HealthCheck]) -> None:
    with pytest.raises(UnresponsiveError, match="Connection refused"):
        asyncio.run(make("127.0.0.1", 1).check())


@pytest.mark.parametrize("make", [KafkaCheck, HttpCheck, broker_node])
def test_a_host_that_does_not_exist(make: Callable[[str, int], HealthCheck]) -> None:
    with pytest.raises(UnhealthyError, match="not known"):
        asyncio.run(make("fe80::1%nowhere", 1).check())


@pytest.mark.parametrize("wanted", ClientAuthentication)
def test_a_service_that_wants_certificates_is_healthy(
    wanted: ClientAuthentication, tmp_path: Path
) -> None:
    files = certificate_for_loopback(tmp_path)
    tls = server_context(files.certificate, files.key, files.certificate, wanted)
    with RunningApp(app_of(), tls=tls) as running:
        required = wanted is ClientAuthentication.REQUIRED
        check = HttpCheck("127.0.0.1", running.port, tls=True, requires_certificate=required)
        asyncio.run(check.check())
