"""A broker that brings records to the disk once, and does nothing else with them.

Whatever arrives together is one write to a file that was written before, synced by the same call:
what a group commit costs at least on this disk. There are no checksums, no logs and no consumers.
Run with the arguments of `headwater`.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import sys
import tempfile
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.forgetful_broker import acknowledge
from headwater.broker.apis import HANDLERS
from headwater.broker.requests.pending_answer import PendingAnswer
from headwater.cli import main
from headwater.protocol import produce as codec
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request

_BLOCK = 4096
_MOST_BYTES = 8 << 20
_FILE_BYTES = 8 * _MOST_BYTES


class _Waiting(NamedTuple):
    answer: PendingAnswer
    response: bytes
    records_bytes: int


class _Disk:
    """Writes as many bytes as wait, and answers; what comes meanwhile waits for the next write."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Waiting] = []
        self._is_busy = False
        self._groups: SimpleQueue[list[_Waiting]] = SimpleQueue()
        self._bytes = memoryview(mmap.mmap(-1, _MOST_BYTES))
        # Not in the temporary directory, which may be in memory.
        with tempfile.NamedTemporaryFile(prefix="headwater-bench-", dir=Path.cwd()) as named:
            self._file = os.open(named.name, os.O_RDWR | os.O_DIRECT)
        for position in range(0, _FILE_BYTES, _MOST_BYTES):
            os.pwritev(self._file, [self._bytes], position, os.RWF_DSYNC)
        self._position = 0
        threading.Thread(target=self._write_groups, daemon=True).start()

    def add(self, each: _Waiting) -> None:
        self._waiting.append(each)
        if not self._is_busy:
            self._is_busy = True
            self._loop.call_soon(self._start)

    def _start(self) -> None:
        group, self._waiting = self._waiting, []
        self._groups.put(group)

    def _write_groups(self) -> None:
        while True:
            group = self._groups.get()
            arrived = sum(each.records_bytes for each in group)
            length = min(_MOST_BYTES, -(-arrived // _BLOCK) * _BLOCK)
            if self._position + length > _FILE_BYTES:
                self._position = 0
            os.pwritev(self._file, [self._bytes[:length]], self._position, os.RWF_DSYNC)
            self._position += length
            self._loop.call_soon_threadsafe(self._written, group)

    def _written(self, group: list[_Waiting]) -> None:
        self._is_busy = bool(self._waiting)
        if self._waiting:
            self._start()
        for each in group:
            each.answer.give(each.response)


_disks: list[_Disk] = []


def acknowledge_once_written(broker: Broker, request: Request) -> bytes | PendingAnswer:
    """Answer a produce request once as many bytes as its records have are on disk."""
    wanted = codec.decode_request(request.header.api_version, request.view, request.header.body)
    response = acknowledge(broker, request)
    if wanted.acks != -1:
        return response
    if not _disks:
        _disks.append(_Disk())
    batches = [records for topic in wanted.topics for _, records in topic.partitions]
    records_bytes = sum(len(records) for records in batches if records is not None)
    answer = PendingAnswer()
    _disks[0].add(_Waiting(answer, response, records_bytes))
    return answer


if __name__ == "__main__":
    HANDLERS[ApiKey.PRODUCE] = acknowledge_once_written
    sys.exit(main())
