"""Kafka's small text files around the logs, each replaced in one step.

In the data directory: offset checkpoints, `meta.properties` and the marker of a clean shutdown.
In a partition's directory: `leader-epoch-checkpoint` and `partition.metadata`.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.disk import replace_file, sync_directory, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

_VERSION = "0"
_READ_BYTES = 64 * 1024


class CorruptCheckpoint(Exception):  # noqa: N818 - it states the fact
    """A checkpoint file is not what it should be; the text says which and why."""


class MetaProperties(NamedTuple):
    """What `meta.properties` says about the data directory."""

    cluster_id: str
    node_id: int
    directory_id: str


def read_offsets(path: Path) -> dict[tuple[str, int], int]:
    """Read offsets by topic and partition; empty if there is no file yet."""
    offsets = {}
    for fields in _read_entries(path, 3):
        offsets[fields[0], _number(path, fields[1])] = _number(path, fields[2])
    return offsets


def write_offsets(path: Path, offsets: Mapping[tuple[str, int], int]) -> None:
    """Replace the offsets of all partitions."""
    entries = (f"{topic} {index} {offset}" for (topic, index), offset in sorted(offsets.items()))
    _write_entries(path, entries)


def read_epochs(path: str | Path) -> list[tuple[int, int]]:
    """Read leader epochs and their start offsets; empty if there is no file yet."""
    return [(_number(path, epoch), _number(path, start)) for epoch, start in _read_entries(path, 2)]


def write_epochs(
    path: str | Path, epochs: Iterable[tuple[int, int]], *, durable: bool = True
) -> None:
    """Replace the leader epochs of a partition; the directory is for the caller to sync."""
    lines = [f"{epoch} {start}" for epoch, start in epochs]
    replace_file(path, _entries_text(lines), durable=durable)


def read_topic_id(path: str | Path) -> bytes | None:
    """Read the topic's id from a `partition.metadata`; None without a file."""
    fields = _read_fields(path, ": ")
    if fields is None:
        return None
    try:
        topic_id = base64.urlsafe_b64decode(fields["topic_id"] + "==")
    except (KeyError, binascii.Error):
        topic_id = b""
    if fields.get("version") != _VERSION or len(topic_id) != 16:
        raise CorruptCheckpoint(f"{path} has no version {_VERSION} or no valid topic_id.")
    return topic_id


def write_topic_id(path: Path, topic_id: bytes) -> None:
    """Write a `partition.metadata`; it reaches the disk with the log's first flush."""
    text = f"version: {_VERSION}\ntopic_id: {topic_id_text(topic_id)}"
    write_atomically(path, text.encode(), durable=False)


def topic_id_text(topic_id: bytes) -> str:
    """Write a topic's id the way Kafka prints it."""
    return base64.urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def read_meta_properties(path: Path) -> MetaProperties | None:
    """Read a `meta.properties` of version 1, the one of KRaft; None without a file."""
    fields = _read_fields(path, "=")
    if fields is None:
        return None
    if fields.get("version") != "1" or "cluster.id" not in fields or "node.id" not in fields:
        raise CorruptCheckpoint(f"{path} needs version=1, cluster.id and node.id.")
    return MetaProperties(
        fields["cluster.id"], _number(path, fields["node.id"]), fields.get("directory.id", "")
    )


def write_meta_properties(path: Path, properties: MetaProperties) -> None:
    """Write a `meta.properties` of version 1."""
    lines = [
        f"cluster.id={properties.cluster_id}",
        f"directory.id={properties.directory_id}",
        f"node.id={properties.node_id}",
        "version=1",
    ]
    write_atomically(path, ("\n".join(lines) + "\n").encode())


def write_clean_shutdown(directory: Path, broker_epoch: int = -1) -> None:
    """Leave the marker that spares the next start the recovery."""
    content = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    write_atomically(directory / CLEAN_SHUTDOWN, content.encode())


def take_clean_shutdown(directory: Path) -> bool:
    """Remove the marker and say whether it was there; a crash from now on is seen as one."""
    try:
        (directory / CLEAN_SHUTDOWN).unlink()
    except FileNotFoundError:
        return False
    sync_directory(directory)
    return True


def _read_entries(path: str | Path, width: int) -> list[list[str]]:
    try:
        lines = _read_text(path).splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"{path} is not text: {error}") from error
    if len(lines) < 2 or lines[0] != _VERSION:
        raise CorruptCheckpoint(f"{path} does not start with version {_VERSION} and a count.")
    entries = [line.split(" ") for line in lines[2:]]
    if _number(path, lines[1]) != len(entries):
        raise CorruptCheckpoint(f"{path} has {len(entries)} entries, not {lines[1]}.")
    for entry in entries:
        if len(entry) != width:
            raise CorruptCheckpoint(f"{path} has the malformed line '{' '.join(entry)}'.")
    return entries


def _write_entries(path: Path, entries: Iterable[str]) -> None:
    write_atomically(path, _entries_text(list(entries)))


def _entries_text(lines: list[str]) -> bytes:
    return ("\n".join([_VERSION, str(len(lines)), *lines]) + "\n").encode()


def _read_fields(path: str | Path, separator: str) -> dict[str, str] | None:
    try:
        text = _read_text(path)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"{path} is not text: {error}") from error
    fields = {}
    for line in text.splitlines():
        name, found, value = line.partition(separator)
        if found and not line.startswith("#"):
            fields[name.strip()] = value.strip()
    return fields


def _read_text(path: str | Path) -> str:
    # A start reads two of these for each partition, and `Path.read_text` takes thrice as long.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [*iter(lambda: os.read(fd, _READ_BYTES), b"")]
    finally:
        os.close(fd)
    return b"".join(parts).decode()


def _number(path: str | Path, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CorruptCheckpoint(f"{path} has '{text}' where a number belongs.") from None
