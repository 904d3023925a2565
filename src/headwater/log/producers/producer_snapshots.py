"""The producer snapshots of a log: when one is taken and when one goes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.log.disk import names_in, storage_error
from headwater.log.producers.producer_snapshot import (
    SUFFIX,
    list_snapshots,
    snapshot_path,
    write_snapshot,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from headwater.log.producers.producer_entry import ProducerEntry

_TORN = f"{SUFFIX}.tmp"

logger = logging.getLogger("headwater.log")


def take_snapshot(directory: Path, offset: int, producers: Iterable[ProducerEntry]) -> None:
    """Write down the producers as they are at an offset, unless that was done before.

    Without it the next start reads more of the log, so a failure is only worth a line.
    """
    path = snapshot_path(directory, offset)
    try:
        if offset and not path.exists():
            write_snapshot(path, producers)
    except OSError as error:
        logger.warning("%s", storage_error(error, f"Writing {path}"))


def remove_old_snapshots(directory: Path, segment_bases: Iterable[int]) -> None:
    """Keep the newest snapshot, and one for each segment in case the log is cut there."""
    kept = set(segment_bases)
    try:
        names = names_in(directory)
        for name in names:
            if name.endswith(_TORN):
                (directory / name).unlink(missing_ok=True)
        if not any(name.endswith(SUFFIX) for name in names):
            return
        snapshots = list_snapshots(directory)
        newest = max(snapshots, default=0)
        for offset, path in snapshots.items():
            if offset != newest and offset not in kept:
                path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s", storage_error(error, f"Removing old snapshots in {directory}"))
