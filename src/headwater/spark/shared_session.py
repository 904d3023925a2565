"""One Spark session for all that share a process: started when first needed, and after a crash."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

_LOOK_EVERY_S = 0.1


class SharedSession:
    """The process's session; any thread may ask for it.

    Nothing of Spark is loaded before it is needed, not even its Python. It is started in a thread
    of its own: in the main thread, PySpark would take Ctrl-C for itself.
    """

    def __init__(
        self,
        name: str = "headwater",
        *,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name
        self._master = master
        self.conf: Mapping[str, str] = dict(conf or {})
        """What Spark is started with, Headwater's own settings among it."""
        self._lock = threading.Lock()
        self._start: Future[SparkSession] | None = None
        self._started = 0.0
        self._is_stopped = False

    @property
    def is_running(self) -> bool:
        """Whether it was started, and its JVM is still there."""
        start = self._start
        if start is None or not start.done() or start.exception() is not None:
            return False
        from headwater.spark.jvm_process import is_jvm_running

        return is_jvm_running()

    @property
    def uptime_s(self) -> float:
        """How long ago it was started the last time."""
        return time.monotonic() - self._started

    def get(self) -> SparkSession:
        """Return the session, started if need be.

        Raises SessionError, and what else can be in the way of Spark's start: JavaNotFound,
        ArtifactError, OperatorsMissing. All who wait are told, and the next to ask tries again.
        """
        return self._asked().result()

    def warm_up(self) -> None:
        """Begin to start it; whoever needs it later waits the less."""
        self._asked()

    def abandon(self) -> None:
        """Start no more, and give up a start that is under way; a signal handler may call this."""
        self._is_stopped = True
        start = self._start
        if start is not None and not start.done():
            from headwater.spark.jvm_process import abandon_start

            abandon_start()

    def stop(self) -> None:
        """Stop it for good, and wait until its JVM is gone; a start is given up."""
        with self._lock:
            self._is_stopped = True
            start = self._start
        if start is None:
            return
        while not start.done():
            self.abandon()
            wait([start], _LOOK_EVERY_S)
        from headwater.spark.session import stop_session

        stop_session()

    def _asked(self) -> Future[SparkSession]:
        with self._lock:
            if self._is_stopped:
                raise _stopped()
            start = self._start
            if start is None or (start.done() and not self.is_running):
                start = self._start = Future()
                threading.Thread(
                    target=self._run, args=(start,), name="headwater-spark", daemon=True
                ).start()
            return start

    def _run(self, start: Future[SparkSession]) -> None:
        try:
            from headwater.spark.jvm_process import is_jvm_running
            from headwater.spark.session import spark_session, stop_session

            if not is_jvm_running():
                stop_session()  # what is left of one that was killed
            if self._is_stopped:
                raise _stopped()
            session = spark_session(self._name, master=self._master, conf=self.conf)
            self._started = time.monotonic()
        except BaseException as failure:  # told to whoever waits
            # There is no end of errors that a JVM can leave behind that was killed in its start.
            is_given_up = self._is_stopped and isinstance(failure, Exception)
            start.set_exception(_stopped() if is_given_up else failure)
        else:
            start.set_result(session)


def _stopped() -> Exception:
    from headwater.spark.session import SessionError

    return SessionError("Spark is stopped, with all that uses it here")
