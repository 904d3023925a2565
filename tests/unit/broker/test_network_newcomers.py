"""Clients that do not say who they are have so much time, and less in a crowd."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from headwater.broker.network import newcomers as module
from headwater.broker.network.newcomers import CROWD, PATIENCE_S, Newcomers
from headwater.broker.session import USER, Authentication, Principal, Session

if TYPE_CHECKING:
    import pytest

    from headwater.broker.network.connection import Connection


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Client:
    """As much of a connection as newcomers look at."""

    def __init__(self, newcomers: Newcomers) -> None:
        self.session = Session("SASL_SSL", "SASL_SSL", "127.0.0.1", 1)
        self.is_established = False
        self.reason = ""
        self._newcomers = newcomers
        newcomers.add(cast("Connection", self))

    def close(self, reason: str, kind: object) -> None:
        self.reason = reason
        self._newcomers.discard(cast("Connection", self))

    def log_in(self) -> None:
        proved = Authentication(Principal(USER, "ann"), "PLAIN")
        self.session = self.session.authenticated(proved)


def test_who_takes_too_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)

    async def run() -> None:
        newcomers = Newcomers(asyncio.get_running_loop(), 30, must_log_in=True)
        quick, slow, silent = (Client(newcomers) for _ in range(3))
        quick.is_established = slow.is_established = True
        quick.log_in()
        clock.now += 29
        late = Client(newcomers)
        newcomers._look()
        assert [c.reason for c in (quick, slow, silent, late)] == [""] * 4
        clock.now += 2
        newcomers._look()
        assert [bool(c.reason) for c in (quick, slow, silent, late)] == [False, True, True, False]
        assert "headwater.authentication.timeout.ms" in slow.reason
        newcomers.stop()

    asyncio.run(run())


def test_a_crowd_makes_the_slow_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)

    async def run() -> None:
        newcomers = Newcomers(asyncio.get_running_loop(), 30, must_log_in=False)
        slow = [Client(newcomers) for _ in range(CROWD)]
        done = [Client(newcomers) for _ in range(50)]
        for client in done:
            client.is_established = True
        clock.now += PATIENCE_S + 1
        fresh = [Client(newcomers) for _ in range(300)]
        newcomers._look()
        assert sum(bool(client.reason) for client in slow) == 300
        assert not any(client.reason for client in done + fresh)
        newcomers.stop()

    asyncio.run(run())
