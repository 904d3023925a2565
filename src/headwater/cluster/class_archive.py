"""Kafka's classes as the JVM keeps them in memory, made once: a node then starts in half the time.

It is made by a node of no other use, which is started and stopped again.
"""

from __future__ import annotations

import fcntl
import hashlib
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.cluster import metadata
from headwater.cluster.directory import NodeDirectory
from headwater.cluster.kafka import (
    OLDEST_JAVA,
    SMALL_HEAP,
    SMALL_JVM,
    VERSION,
    class_path,
    node_command,
)
from headwater.cluster.node import Node, roles
from headwater.cluster.server_properties import configure
from headwater.cluster.storage import format_storage, new_cluster_id
from headwater.java import class_sharing
from headwater.java.artifacts import cache_directory
from headwater.java.runtime import find_java
from headwater.processes.child import ChildProcess
from headwater.processes.guard import Guard
from headwater.processes.ports import FreePorts
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from pathlib import Path

POLL_S = 0.1

_HOST = "127.0.0.1"
_MADE_WITHIN_S = 180.0
_GUARD_KILLS_AFTER_S = 10.0


def archive_options() -> tuple[str, ...]:
    """Return the JVM's options for the archive, which the first call on a machine makes."""
    archive = _path()
    if not archive.exists():
        _make_only_once(archive)
    # An empty file stands for a Java that cannot make one, as PyPI's.
    if not archive.exists() or archive.stat().st_size == 0:
        return ()
    return class_sharing.use(archive)


def becomes_ready(node: Node, process: ChildProcess) -> bool:
    """Wait until a node counts itself among the brokers; False if it ends or takes too long."""
    deadline = time.monotonic() + _MADE_WITHIN_S
    while process.running and time.monotonic() < deadline:
        with suppress(OSError):  # it does not listen yet
            if node.id in metadata.broker_ids(_HOST, node.port):
                return True
        time.sleep(POLL_S)
    return False


def _path() -> Path:
    java = find_java(OLDEST_JAVA)
    release = java.home / "release"
    what = [str(java.home.resolve()), class_path(), release.read_text() if release.exists() else ""]
    digest = hashlib.sha256("\n".join(what).encode()).hexdigest()[:12]
    return cache_directory() / f"kafka-{VERSION}-classes-{digest}.jsa"


def _make_only_once(archive: Path) -> None:
    with open(archive.with_name(f".{archive.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.exists():  # another process has made it meanwhile
            return
        print(  # noqa: T201 - the first use takes a while, and the user should know why
            f"Preparing Kafka's classes in {archive}, once.", file=sys.stderr
        )
        with TemporaryFolder("kafka") as directory:
            partial = archive.with_name(f".{archive.name}")
            partial.unlink(missing_ok=True)
            if not _run_a_node(directory, partial):
                return  # a node that shall be of use will say why it does not start
            if not partial.exists():
                partial.touch()
            partial.replace(archive)


def _run_a_node(directory: Path, archive: Path) -> bool:
    free = FreePorts(_HOST)
    files = NodeDirectory(directory)
    node = Node(1, roles(1, None)[1], _HOST, free.pick(), free.pick())
    try:
        configure(node, [node], files)
        format_storage(new_cluster_id(), [files])
        options = (*SMALL_HEAP, *SMALL_JVM, *class_sharing.make(archive))
        with Guard(_GUARD_KILLS_AFTER_S) as guard:
            process = ChildProcess(node_command(files, options), guard=guard)
            try:
                is_ready = becomes_ready(node, process)
            finally:
                process.stop(within_s=_MADE_WITHIN_S)
            # One that had to be killed may have written half of it.
            return is_ready and not process.was_killed
    finally:
        free.close()
