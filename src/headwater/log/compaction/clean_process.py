"""Run a pass of compaction in a child process, which shares no interpreter with the broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.log.compaction.clean_job import CleanedGroup, CleanStats
from headwater.log.errors import CorruptBatch, LogError, StorageError

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.log.compaction.clean_job import CleanJob


class CleanInterrupted(LogError):  # noqa: N818 - it states the fact
    """The pass was given up half-way: the process was killed, or a segment went away."""


class CleanCalledOff(CleanInterrupted):
    """The pass was given up because `kill` was called."""


class CleanProcess:
    """One pass; `results` starts it, and `kill` ends it or keeps it from starting."""

    def __init__(self, job: CleanJob) -> None:
        self._job = job
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def results(self) -> Generator[CleanedGroup | CleanStats]:
        """Yield what `clean_pass` yields, and raise what it raises or CleanInterrupted.

        Closing the iterator kills the process.
        """
        with self._start() as process:
            try:
                yield from _results(process, self._job)
            except CleanInterrupted as error:
                if self._is_killed:
                    raise self._called_off() from error
                raise
            finally:
                process.kill()

    def kill(self) -> None:
        """End the pass, from any thread; its iterator raises CleanCalledOff."""
        with self._lock:
            self._is_killed = True
            if self._process is not None:
                self._process.kill()

    def _called_off(self) -> CleanCalledOff:
        return CleanCalledOff(f"The compaction of {self._job.directory} was called off.")

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_killed:
                raise self._called_off()
            # -P: the working directory is the user's and must not shadow modules. A session of
            # its own: Ctrl-C is for the broker, which ends its children itself.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "headwater.log.compaction.clean_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            return self._process


def _results(
    process: subprocess.Popen[bytes], job: CleanJob
) -> Generator[CleanedGroup | CleanStats]:
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise AssertionError("all three pipes were asked for")
    # Whatever ends the child so early is found below. Not through the buffer of `stdin`, which
    # would try again when it is closed.
    with suppress(BrokenPipeError):
        unsent = memoryview(job.to_json().encode() + b"\n")
        while unsent:
            unsent = unsent[os.write(stdin.fileno(), unsent) :]
    for line in stdout:
        result = _decode(line)
        yield result
        if isinstance(result, CleanStats):
            return
    complaint = stderr.read().decode(errors="replace").strip()
    raise CleanInterrupted(
        f"The process that compacts {job.directory} ended with code {process.wait()} before it "
        f"was done{': ' + complaint if complaint else ''}."
    )


def _decode(line: bytes) -> CleanedGroup | CleanStats:
    if not line.endswith(b"\n"):
        raise CleanInterrupted("The process that compacts was ended in the middle of a line.")
    ((name, values),) = json.loads(line).items()
    if name == CleanedGroup.__name__:
        return CleanedGroup(**{**values, "segments": tuple(values["segments"])})
    if name == CleanStats.__name__:
        return CleanStats(**values)
    message = values["message"]
    match values["kind"]:
        case "corrupt":
            raise CorruptBatch(message)
        case "storage":
            raise StorageError(f"Compaction could not read or write: {message}.")
        case _:
            raise CleanInterrupted(f"A segment went away during its compaction: {message}.")
