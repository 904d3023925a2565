"""Close all logs of a data directory: with one sync if they are many, or each by itself."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.log.disk import storage_error
from headwater.log.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.file_system import FileSystem
    from headwater.log.log import Log

logger = logging.getLogger("headwater.log")

MANY_LOGS = 500
"""From how many on the whole file system is synced, which may have to write for others too."""

_DISK_THREADS = 8
"""How many syncs are under way at once: a disk takes many together in the time of one."""


def close_logs(logs: Iterable[Log], file_system: FileSystem | None) -> bool:
    """Bring everything to disk and end the use of the logs; False if that is in doubt for any."""
    all_logs = tuple(logs)
    # Those that have failed before need checking.
    open_logs = [log for log in all_logs if log.failure is None]
    together: list[Log] = []
    if file_system is not None and len(open_logs) >= MANY_LOGS:
        together = [log for log in open_logs if file_system.has(log.directory)]
    others = set(open_logs).difference(together)
    with ThreadPoolExecutor(_DISK_THREADS, thread_name_prefix="headwater-close") as threads:
        are_closed = [*threads.map(_close, others)]
    if file_system is not None and together:
        are_closed.append(_close_together(together, file_system))
    return all(are_closed) and len(open_logs) == len(all_logs)


def _close(log: Log) -> bool:
    try:
        log.close()
    except StorageError as error:
        logger.error("%s", error)
        return False
    return True


def _close_together(logs: list[Log], file_system: FileSystem) -> bool:
    """Close the logs with one sync.

    If a write has failed, nobody knows of which log: what was known to be on disk before stays all
    that is known, and the journal stays with it.
    """
    completed = [log for log in logs if _complete(log)]
    try:
        file_system.sync()
    except OSError as error:
        logger.error("%s", storage_error(error, "Bringing all logs to disk"))
        return False
    for log in completed:
        log.close(is_synced=True)
    return len(completed) == len(logs)


def _complete(log: Log) -> bool:
    try:
        log.complete(durable=False)
    except StorageError as error:
        logger.error("%s", error)
        return False
    return True
