"""Takes note of what was allowed and denied, and writes it down away from the requests.

What changes something is written each time. What reads, writes or describes comes in such numbers
that it is written once in an interval for the same client, operation and resource, with a count.
So do logins, for the same client, mechanism and cause: those that fail cost an attacker nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from datetime import UTC, datetime
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.broker.audit.audited_request import AuditedRequest
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.protocol.acls import AclOperation

if TYPE_CHECKING:
    from headwater.broker.audit.audit_topic import AuditTopic
    from headwater.broker.audit.login_event import LoginEvent
    from headwater.broker.authorizer import Resource
    from headwater.broker.requests.request import Request
    from headwater.broker.session import Principal, Session
    from headwater.logs.audit_file import AuditFile
    from headwater.protocol.api_keys import ApiKey
    from headwater.protocol.frames import RequestHeader

logger = logging.getLogger("headwater.audit")
_failures = RateLimitedLogger(logger)

_SAMPLED = frozenset(
    (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    )
)
_FLUSH_S = 0.5
_MOST_WAITING = 100_000
"""Events that wait to be written; beyond, they are counted and not kept."""
_MOST_SAMPLES = 10_000
_MOST_LOGINS = 1000
"""Different logins that failed which are told in an interval; beyond, they are only counted."""


class Event(NamedTuple):
    """Something that a client did, or was refused."""

    principal: Principal
    host: str
    listener: str
    client_id: str | None
    api: ApiKey
    operation: AclOperation
    resource: Resource
    is_allowed: bool

    def fields(self) -> dict[str, Any]:
        """Return what is written."""
        return {
            "principal": str(self.principal),
            "host": self.host,
            "listener": self.listener,
            "clientId": self.client_id,
            "api": self.api.name,
            "operation": self.operation.name,
            "resourceType": self.resource.type.name,
            "resource": self.resource.name,
            "allowed": self.is_allowed,
        }


class AuditLog:
    """One broker's audit log; `note` is called on the event loop and takes no time there."""

    def __init__(
        self, file: AuditFile | None, topic: AuditTopic | None, sample_interval_s: float
    ) -> None:
        self._file = file
        self._topic = topic
        self._interval_s = sample_interval_s
        self._waiting: list[tuple[float, Event | LoginEvent, int]] = []
        self._samples: dict[Event | LoginEvent, int] = {}
        self._logins = 0
        self._sampled_until = 0.0
        self._dropped = 0
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def request(self, header: RequestHeader, view: memoryview, session: Session) -> Request:
        """Return a request that tells what it was allowed to do."""
        return AuditedRequest(header, view, session, self)

    def note(
        self, request: Request, operation: AclOperation, resource: Resource, is_allowed: bool
    ) -> None:
        """Take note of a decision."""
        session, header = request.session, request.header
        event = Event(
            session.principal, session.client_host, session.listener, header.client_id,
            header.api_key, operation, resource, is_allowed,
        )  # fmt: skip
        if operation not in _SAMPLED or self._is_news(event):
            self._add(event, 1)

    def note_login(self, event: LoginEvent) -> None:
        """Take note of a login that succeeded or failed."""
        if event.cause is not None and self._interval_s and event not in self._samples:
            if self._logins >= _MOST_LOGINS:
                event = event.without_details()
            else:
                self._logins += 1
        if self._is_news(event):
            self._add(event, 1)

    def start(self) -> None:
        """Write from now on."""
        self._sampled_until = time() + self._interval_s
        self._task = asyncio.create_task(self._write_now_and_then())
        self._task.add_done_callback(_tell_failure)

    async def stop(self) -> None:
        """Write what is left."""
        task, self._task = self._task, None
        if task is not None:
            self._stopping.set()  # not by cancelling it: it may be about to write
            await asyncio.gather(task, return_exceptions=True)
            self._end_samples()
            await self._write()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _is_news(self, event: Event | LoginEvent) -> bool:
        """Whether this is the first of its kind in an interval; the others are counted."""
        if not self._interval_s:
            return True
        seen = self._samples.get(event)
        if seen is None and len(self._samples) >= _MOST_SAMPLES:
            self._end_samples()
        self._samples[event] = 0 if seen is None else seen + 1
        return seen is None

    def _add(self, event: Event | LoginEvent, count: int) -> None:
        if len(self._waiting) < _MOST_WAITING:
            self._waiting.append((time(), event, count))
        else:
            self._dropped += count

    def _end_samples(self) -> None:
        for event, count in self._samples.items():
            if count:
                self._add(event, count)
        self._samples.clear()
        self._logins = 0

    async def _write_now_and_then(self) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _FLUSH_S)
            if time() >= self._sampled_until:
                self._end_samples()
                self._sampled_until = time() + self._interval_s
            await self._write()

    async def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting and not self._dropped:
            return
        dropped, self._dropped = self._dropped, 0
        lines = await asyncio.to_thread(_lines, waiting, dropped)
        if self._file is not None:
            try:
                await asyncio.to_thread(self._file.write, b"".join(lines))
            except OSError as failure:
                # Serving goes on: whoever fills a disk must not be able to stop a broker with it.
                self._dropped += dropped + sum(count for _, _, count in waiting)
                _failures.error(
                    failure.errno, "the audit log cannot be written: %s; %d events are lost so far",
                    failure, self._dropped,
                )  # fmt: skip
        if self._topic is not None:
            await self._topic.write(lines)


def _tell_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("the audit log has ended", exc_info=task.exception())


def _lines(waiting: list[tuple[float, Event | LoginEvent, int]], dropped: int) -> list[bytes]:
    lines = [_line({"time": _moment(time()), "dropped": dropped})] if dropped else []
    lines += [
        _line({"time": _moment(moment), **event.fields(), "count": count})
        for moment, event, count in waiting
    ]
    return lines


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _moment(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
