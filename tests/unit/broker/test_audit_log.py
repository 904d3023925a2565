"""How much of many logins an audit log tells."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from headwater.broker.audit import audit_log
from headwater.broker.audit.audit_log import AuditLog
from headwater.broker.audit.login_event import LoginEvent
from headwater.broker.session import ANONYMOUS, USER, Principal
from headwater.logs.audit_file import AuditFile

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_attackers_do_not_fill_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "_MOST_LOGINS", 10)
    path = tmp_path / "audit.log"

    async def run() -> None:
        log = AuditLog(AuditFile(path, 1 << 20, 1), None, 3600)
        log.start()
        for number in range(500):
            host = f"10.0.0.{number % 50}"
            log.note_login(LoginEvent(ANONYMOUS, host, "IN", "PLAIN", f"cause {number}"))
        log.note_login(LoginEvent(Principal(USER, "ann"), "10.0.1.1", "IN", "PLAIN", None))
        await log.stop()

    asyncio.run(run())
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    failed = [line for line in lines if not line["allowed"]]
    assert [line["count"] for line in failed] == [1] * 11 + [489]
    assert [line["host"] for line in failed[10:]] == ["*", "*"]
    (came,) = [line for line in lines if line["allowed"]]
    assert (came["principal"], came["host"]) == ("User:ann", "10.0.1.1")


def test_each_is_told_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"

    async def run() -> None:
        log = AuditLog(AuditFile(path, 1 << 20, 1), None, 0)
        log.start()
        for _ in range(5):
            log.note_login(LoginEvent(ANONYMOUS, "10.0.0.1", "IN", None, "cause"))
        await log.stop()

    asyncio.run(run())
    assert [json.loads(line)["count"] for line in path.read_text().splitlines()] == [1] * 5
