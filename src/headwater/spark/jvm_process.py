"""Spark's JVM as a process: with a temporary folder of its own, which goes when the JVM goes."""

from __future__ import annotations

import atexit
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

_ENDED_WITHIN_S = 30.0

_folders: list[TemporaryFolder] = []
_being_started: list[subprocess.Popen[bytes]] = []


def make_folder() -> Path:
    """Make the folder for all that a JVM writes while it runs, which it would leave in part."""
    folder = TemporaryFolder("spark")
    if not _folders:
        atexit.register(end_jvm)
    _folders.append(folder)
    return folder.path


def delete_at_its_end(session: SparkSession, folder: Path) -> None:
    """Let the JVM delete its folder: it ends in order also when this process was killed."""
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001 - PySpark's own door to Java
    jvm.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(
        jvm.java.io.File(str(folder))
    )


@contextmanager
def starting() -> Iterator[None]:
    """Know the process that PySpark starts meanwhile, for `abandon_start`."""
    from pyspark import java_gateway

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *positional: Any, **named: Any) -> None:
            super().__init__(*positional, **named)
            _being_started.append(self)

    module: Any = java_gateway
    own, module.Popen = module.Popen, Noted
    try:
        yield
    finally:
        module.Popen = own
        _being_started.clear()


def abandon_start() -> None:
    """Kill a JVM that is being started, if there is one: nothing in it has to come to its end.

    Whoever waits for the session gets a SessionError. A signal handler may call this.
    """
    for process in _being_started:
        process.kill()


def is_jvm_running() -> bool:
    """Tell whether the process that the session needs is there."""
    from pyspark import SparkContext

    context: Any = SparkContext
    gateway = context._gateway  # noqa: SLF001 - nothing public says which process it is
    return gateway is not None and gateway.proc.poll() is None


def end_jvm(within_s: float = _ENDED_WITHIN_S) -> bool:
    """Stop the session and its JVM, wait until they are gone, and delete what they left.

    False if the JVM had to be killed, or has failed.
    """
    from pyspark import SparkContext

    context: Any = SparkContext
    gateway = context._gateway  # noqa: SLF001 - nothing public says which process it is
    code = 0
    if gateway is not None:
        _stop_session()
        gateway.shutdown()
        context._gateway = context._jvm = None  # noqa: SLF001 - the next session gets a new JVM
        code = _wait_for(gateway.proc, within_s)
    while _folders:
        _folders.pop().close()
    return code == 0


def _stop_session() -> None:
    from pyspark.sql import SparkSession

    known: Any = SparkSession
    # PySpark's own question for a session knows it only in the thread that has made it.
    session = known._instantiatedSession  # noqa: SLF001
    if session is None:
        return
    if not is_jvm_running():
        session.sparkContext._jsc = None  # noqa: SLF001 - there is nobody to be told of the stop
    try:
        session.stop()
    except (Py4JError, ConnectionError):
        # The JVM has gone before, and its session with it.
        known._instantiatedSession = known._activeSession = None  # noqa: SLF001


def _wait_for(process: subprocess.Popen[bytes], within_s: float) -> int:
    # The end of its input is what tells the JVM to end.
    if process.stdin is not None:
        process.stdin.close()
    try:
        return process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
