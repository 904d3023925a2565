"""The audit trail: who changed what by way of the console, and who was not allowed to."""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.console.model.paging import Page, Wanted, page_of
from headwater.logs.audit_file import AuditFile

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.console.model.security.roles import Action

_KEPT = 2_000
_LONGEST = 500

logger = logging.getLogger("headwater.console")


class Event(NamedTuple):
    """Something that was done, or refused."""

    time: str
    principal: str
    operation: str
    resource_type: str
    resource: str
    allowed: bool
    error: str
    """Why it was refused, or has failed; empty where it was done."""
    cluster: str = ""
    """Where; empty where the console shows one cluster alone."""

    def line(self) -> bytes:
        """Return it as the broker's audit log writes its own."""
        fields = {
            "time": self.time,
            "principal": self.principal,
            "operation": self.operation,
            "resourceType": self.resource_type,
            "resource": self.resource,
            "allowed": self.allowed,
            "error": self.error,
            **({"cluster": self.cluster} if self.cluster else {}),
        }
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Event:
        """Read a line; raises ValueError, KeyError and TypeError for anything else."""
        told: dict[str, Any] = json.loads(line)
        return cls(
            str(told["time"]),
            str(told["principal"]),
            str(told["operation"]),
            str(told["resourceType"]),
            str(told["resource"]),
            bool(told["allowed"]),
            str(told["error"]),
            str(told.get("cluster", "")),
        )


class AuditTrail:
    """Keeps the last events, and writes all of them to a file where there is one."""

    def __init__(
        self, path: Path | None = None, max_bytes: int = 10_485_760, backups: int = 5
    ) -> None:
        """Open the file, and make it if need be; raises OSError."""
        self.path = path
        self._lock = threading.Lock()
        self._events: deque[Event] = deque(maxlen=_KEPT)
        self._file = None
        if path is not None:
            self._file = AuditFile(path, max_bytes, backups)
            self._events.extend(_last_events(path))

    def note(
        self,
        who: str,
        action: Action,
        resource: str,
        error: str,
        *,
        allowed: bool,
        cluster: str = "",
    ) -> None:
        """Write down what somebody did, or wanted to do."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        what, resource = action.resource_type, resource[:_LONGEST]
        event = Event(now, who, action.name, what, resource, allowed, error, cluster)
        where, said = f" in {cluster}" if cluster else "", f": {error}" if error else ""
        logger.info("%s: %s %s%s%s", who, action.words, event.resource, where, said)
        with self._lock:
            self._events.append(event)
            if self._file is not None:
                try:
                    self._file.write(event.line())
                except OSError as failure:
                    # Whoever fills a disk must not be able to keep others from mending it.
                    logger.error("the audit trail cannot be written: %s", failure)

    def page(self, wanted: Wanted, cluster: str = "") -> Page[Event]:
        """Return a page of what is kept of a cluster, the newest first; "" is of all."""
        with self._lock:
            events = [each for each in self._events if cluster in ("", each.cluster)]
        # Of those of one millisecond, the last one is the newest.
        places = {id(event): place for place, event in enumerate(events)}
        sorted_by = wanted if wanted.sort else Wanted(wanted.search, "-time", wanted.page)
        columns: dict[str, Any] = {
            "time": lambda event: (event.time, places[id(event)]),
            "principal": lambda event: event.principal,
            "operation": lambda event: event.operation,
            "resource": lambda event: event.resource,
        }
        words = lambda event: " ".join(map(str, event))  # noqa: E731
        return page_of(events, sorted_by, words, columns)

    def close(self) -> None:
        """Bring it to disk."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _last_events(path: Path) -> list[Event]:
    """Return what a file ends with; lines of others are left out."""
    events = []
    with path.open("rb") as lines:
        for line in deque(lines, _KEPT):
            try:
                events.append(Event.read(line))
            except (ValueError, KeyError, TypeError):
                continue
    return events
