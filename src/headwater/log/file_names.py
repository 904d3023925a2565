"""How the log's files and directories are named, which is how Kafka names them."""

from __future__ import annotations

import re
import uuid

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
"""Aborted transactions; a segment without any has no such file."""
SEGMENT_KINDS = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

CLEANED = ".cleaned"
"""What compaction has written but not yet put in place; worthless after a crash."""
SWAP = ".swap"
"""What compaction has finished and is putting in place; a crash does not stop it."""
DELETED = ".deleted"
"""A segment that is out of the log and waits for `file.delete.delay.ms` to pass."""
TEMPORARY = ".tmp"
"""A file that was about to replace another one; worthless after a crash."""

JOURNAL = "headwater.journal."
"""What the names of the journal's files begin with, in the data directory itself."""

DELETED_DIRECTORY = "-delete"
STRAY_DIRECTORY = "-stray"

_LONGEST_NAME = 255
_PARTITION = re.compile(r"(.+)-(0|[1-9][0-9]{0,9})")
_SEGMENT_FILE = re.compile(r"([0-9]{20})(\.[a-z]+)(\.[a-z]+)?")


def segment_stem(directory: str, base_offset: int) -> str:
    """Path of a segment's files without their endings."""
    return f"{directory}/{base_offset:020d}"


def parse_segment_file(name: str) -> tuple[int, str, str] | None:
    """Split a file name into base offset, kind and suffix; None if it is not a segment's."""
    match = _SEGMENT_FILE.fullmatch(name) if name[20:21] == "." else None
    if match is None:
        return None
    return int(match[1]), match[2], match[3] or ""


def partition_directory(topic: str, partition: int) -> str:
    """Name of the directory that holds a partition."""
    return f"{topic}-{partition}"


def parse_partition_directory(name: str) -> tuple[str, int] | None:
    """Topic and partition of a directory's name; None if it does not look like a partition."""
    match = _PARTITION.fullmatch(name)
    return None if match is None else (match[1], int(match[2]))


def set_aside(partition_directory_name: str, suffix: str) -> str:
    """Name for a partition's directory that is not served any more, unique and not too long."""
    topic, _, partition = partition_directory_name.rpartition("-")
    ending = f"-{partition}.{uuid.uuid4().hex}{suffix}"
    return topic[: _LONGEST_NAME - len(ending)] + ending
