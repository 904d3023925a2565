"""Logging in over a real socket: what may come when, and what happens to what may not."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from time import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.test_network_connection import Peer, connected, framed
from tests.waiting import HUNG_AFTER_S

from headwater.broker.config import BrokerConfig
from headwater.broker.network.authentication_counts import AuthenticationCounts
from headwater.broker.sasl import gate as gate_module
from headwater.broker.sasl.gate import SaslGate
from headwater.broker.sasl.illegal_state import illegal_state
from headwater.broker.sasl.listener_sasl import ListenerSasl
from headwater.protocol import messages
from headwater.protocol.api_keys import SERVED, ApiKey, is_flexible
from headwater.protocol.errors import ErrorCode
from headwater.protocol.frames import RequestHeader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GOOD, WRONG = b"\0ann\0secret", b"\0ann\0guessed"


def request(api_key: int, version: int, body: bytes = b"", *, flexible: bool = False) -> bytes:
    header = api_key.to_bytes(2, "big") + version.to_bytes(2, "big") + b"\0\0\0\7\xff\xff"
    return header + (b"\0" if flexible else b"") + body


def sasl(api_key: ApiKey, version: int, **fields: Any) -> bytes:
    body = messages.encode_request(api_key, version, fields)
    return request(api_key, version, body, flexible=is_flexible(api_key, version))


def handshake(mechanism: str = "PLAIN", version: int = 1) -> bytes:
    return sasl(ApiKey.SASL_HANDSHAKE, version, mechanism=mechanism)


def authenticate(message: bytes, version: int = 2) -> bytes:
    return sasl(ApiKey.SASL_AUTHENTICATE, version, auth_bytes=message)


class Guest:
    """A client in front of the gate, and what got through."""

    def __init__(self, peer: Peer, counts: AuthenticationCounts) -> None:
        self.peer = peer
        self.counts = counts

    async def say(self, *frames: bytes) -> None:
        await self.peer.send(b"".join(map(framed, frames)))

    async def frame(self) -> bytes:
        size = int.from_bytes(await self.peer.receive(4), "big")
        return await self.peer.receive(size)

    async def answer(self, api_key: ApiKey, version: int) -> Any:
        data = await self.frame()
        start = 5 if is_flexible(api_key, version) else 4
        assert data[:4] == b"\0\0\0\7"
        return messages.decode_response(api_key, version, memoryview(data), start)

    async def log_in(self, message: bytes = GOOD) -> Any:
        await self.say(handshake(), authenticate(message))
        hands = await self.answer(ApiKey.SASL_HANDSHAKE, 1)
        assert (hands.error_code, hands.mechanisms) == (0, ("PLAIN", "SCRAM-SHA-512"))
        return await self.answer(ApiKey.SASL_AUTHENTICATE, 2)

    async def closed(self) -> None:
        await asyncio.wait_for(self.peer.is_closed.wait(), HUNG_AFTER_S)


@asynccontextmanager
async def guest(**settings: str) -> AsyncIterator[Guest]:
    config = BrokerConfig(
        {
            "listeners": "SASL_PLAINTEXT://:0",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                'PlainLoginModule required user_ann="secret" user_bob="other";'
            ),
            "connection.failed.authentication.delay.ms": "0",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )
    counts = AuthenticationCounts()
    async with connected(max_frame=1000) as peer:
        loop = asyncio.get_running_loop()
        listener = ListenerSasl("SASL_PLAINTEXT", config, dict)
        peer.connection._handle = SaslGate(listener, counts, loop, peer.handle, 100_000)
        yield Guest(peer, counts)


def test_who_logs_in_gets_through() -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(request(18, 0))
            await client.peer.until_frames(1)
            client.peer.replies[0].skip()
            answer = await client.log_in()
            assert (answer.error_code, answer.session_lifetime.total_seconds()) == (0, 0)
            session = client.peer.connection.session
            assert (str(session.principal), session.authentication.mechanism) == (
                "User:ann", "PLAIN",
            )  # fmt: skip
            large = request(3, 0, bytes(50_000))
            await client.say(large)
            await client.peer.until_frames(2)
            assert client.peer.frames[-1] == large
            assert client.counts.succeeded == 1

    asyncio.run(run())


def test_old_clients_send_messages_without_headers() -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(handshake(version=0))
            await client.frame()
            await client.say(GOOD)
            assert await client.frame() == b""
            await client.say(request(3, 0))
            await client.peer.until_frames(1)
        async with guest() as client:
            await client.say(handshake(version=0), WRONG)
            await client.frame()
            await client.closed()
            assert client.peer.frames == []

    asyncio.run(run())


def test_a_wrong_password_is_answered_late_and_closes(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        async with guest(connection_failed_authentication_delay_ms="80") as client:
            loop = asyncio.get_running_loop()
            began = loop.time()
            await client.say(handshake(), authenticate(WRONG), authenticate(GOOD), request(3, 0))
            await client.frame()
            answer = await client.answer(ApiKey.SASL_AUTHENTICATE, 2)
            assert loop.time() - began > 0.07
            assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
            assert answer.error_message == "Authentication failed: Invalid username or password"
            await client.closed()
            assert client.peer.frames == []
            assert (client.counts.failed, client.counts.succeeded) == (1, 0)

    asyncio.run(run())
    assert "its login by PLAIN failed" in caplog.text
    assert "guessed" not in caplog.text


def test_a_mechanism_that_is_not_enabled_is_answered_and_closes() -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(handshake("GSSAPI"))
            answer = await client.answer(ApiKey.SASL_HANDSHAKE, 1)
            assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
            assert answer.mechanisms == ("PLAIN", "SCRAM-SHA-512")
            await client.closed()

    asyncio.run(run())


@pytest.mark.parametrize(
    "frames",
    [
        [request(3, 0)],
        [request(0, 9, flexible=True)],
        [authenticate(GOOD)],
        [handshake(), request(3, 0)],
        [handshake(), handshake()],
        [request(17, 9)],
        [b"\x60garbage of an ancient client"],
        [b"GET / HTTP/1.1\r\n\r\n"],
        [handshake()[:-3]],
        [handshake(), authenticate(GOOD)[:-4]],
    ],
)
def test_what_comes_before_its_time_closes(frames: list[bytes]) -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(*frames)
            await client.closed()
            assert client.peer.frames == []
            assert client.counts.failed == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    ("api_key", "version", "sent", "answered"),
    [
        (ApiKey.SASL_HANDSHAKE, 1, {"mechanism": "PLAIN"}, lambda answer: [answer.error_code]),
        (ApiKey.API_VERSIONS, 3, {}, lambda answer: [answer.error_code]),
        (ApiKey.API_VERSIONS, 0, {}, lambda answer: [answer.error_code]),
        (ApiKey.FIND_COORDINATOR, 3, {}, lambda answer: [answer.error_code]),
        (
            ApiKey.METADATA, 9, {"topics": [{"name": "a"}, {"name": "b"}]},
            lambda answer: [topic.error_code for topic in answer.topics],
        ),
        (
            ApiKey.PRODUCE, 9,
            {"acks": -1, "timeout": 100, "topic_data": [
                {"name": "a", "partition_data": [{"index": 0}, {"index": 1}]}]},
            lambda answer: [
                each.error_code for topic in answer.responses for each in topic.partition_responses
            ],
        ),
    ],
)  # fmt: skip
def test_what_comes_within_a_login_is_answered_and_closes(
    api_key: ApiKey, version: int, sent: dict[str, Any], answered: Any
) -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(handshake(), sasl(api_key, version, **sent), authenticate(GOOD))
            await client.answer(ApiKey.SASL_HANDSHAKE, 1)
            size = int.from_bytes(await client.peer.receive(4), "big")
            data = await client.peer.receive(size)
            has_tags = is_flexible(api_key, version) and api_key is not ApiKey.API_VERSIONS
            answer = messages.decode_response(
                api_key, version, memoryview(data), 5 if has_tags else 4
            )
            codes = answered(answer)
            assert set(codes) == {ErrorCode.ILLEGAL_SASL_STATE}
            await client.closed()
            assert client.peer.frames == []
            assert (client.counts.failed, client.counts.succeeded) == (1, 0)

    asyncio.run(run())


def test_every_request_has_its_answer() -> None:
    hot = (ApiKey.PRODUCE, ApiKey.METADATA)  # these are read, the others are not
    empty = memoryview(b"")
    answered = set()
    for api_key, versions in SERVED.items():
        for version in range(versions.min, versions.max + 1):
            if api_key in hot:
                continue
            answer = illegal_state(RequestHeader(api_key, version, 1, None, 0), empty)
            if answer is not None:
                data = messages.encode_response(api_key, version, answer)
                said = messages.decode_response(api_key, version, memoryview(data))
                assert said.error_code == ErrorCode.ILLEGAL_SASL_STATE
                answered.add(api_key)
    assert {
        ApiKey.API_VERSIONS,
        ApiKey.FETCH,
        ApiKey.JOIN_GROUP,
        ApiKey.INIT_PRODUCER_ID,
    } < answered


@pytest.mark.parametrize(
    "frame",
    [
        sasl(ApiKey.PRODUCE, 9, acks=0, timeout=100, topic_data=[]),
        sasl(ApiKey.OFFSET_COMMIT, 8, group_id="g", topics=[]),
        sasl(ApiKey.PRODUCE, 9, acks=1, timeout=100, topic_data=[])[:-2],
    ],
)
def test_what_has_no_answer_within_a_login_only_closes(frame: bytes) -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(handshake(), frame)
            await client.answer(ApiKey.SASL_HANDSHAKE, 1)
            await client.closed()
            assert client.counts.failed == 1

    asyncio.run(run())


def test_before_the_login_frames_are_small() -> None:
    async def run() -> None:
        async with guest() as client:
            await client.say(authenticate(bytes(2000)))
            await client.closed()

    asyncio.run(run())


def test_garbage_never_gets_through() -> None:
    dice = random.Random(14)

    async def run() -> None:
        for _ in range(60):
            async with guest() as client:
                frames = [handshake(), authenticate(GOOD)]
                broken = bytearray(dice.choice(frames))
                for _ in range(dice.randrange(1, 4)):
                    broken[dice.randrange(len(broken))] = dice.randrange(256)
                junk = dice.randbytes(dice.randrange(1, 60))
                await client.say(bytes(broken), junk, request(3, 0))
                client.peer.sock.shutdown(1)
                await client.closed()
                # A broken handshake may be a good one still, and a greeting may come first.
                assert all(frame[:2] == b"\0\x12" for frame in client.peer.frames)

    asyncio.run(run())


def test_who_has_to_log_in_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with guest(connections_max_reauth_ms="5000") as client:
            answer = await client.log_in()
            assert answer.session_lifetime.total_seconds() == 5
            first = client.peer.connection.session
            await client.say(request(3, 0))
            await client.peer.until_frames(1)
            client.peer.replies[0].skip()
            await client.log_in()
            assert client.peer.connection.session is not first
            assert client.counts.reauthenticated == 1
            answer = await client.log_in(b"\0bob\0other")
            assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
            assert "Cannot change principals" in answer.error_message
            await client.closed()
        async with guest(connections_max_reauth_ms="5000") as client:
            await client.log_in()
            monkeypatch.setattr(gate_module, "time", lambda: time() + 60)
            await client.say(request(3, 0))
            await client.closed()
            assert client.peer.frames == []

    asyncio.run(run())
