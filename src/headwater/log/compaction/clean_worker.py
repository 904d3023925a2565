"""The child process of compaction: `python -m headwater.log.compaction.clean_worker`.

It reads a CleanJob, one line of JSON, from stdin and writes a line of JSON to stdout for each
result. It gives up at once when stdin is closed, so it never outlives the broker.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict

from headwater.log.compaction.clean_job import CleanJob
from headwater.log.compaction.clean_pass import clean_pass
from headwater.log.errors import LogError

_NICENESS = 10
_ABANDONED = 3


def main() -> None:
    """Run one job."""
    os.nice(_NICENESS)
    job = CleanJob.from_json(_read_line())
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        for result in clean_pass(job):
            _report(type(result).__name__, asdict(result))
    except (LogError, OSError) as error:
        _report("error", {"kind": _kind(error), "message": str(error)})


def _kind(error: LogError | OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "gone"
    return "storage" if isinstance(error, OSError) else "corrupt"


def _report(name: str, values: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({name: values}) + "\n")
    sys.stdout.flush()


def _read_line() -> str:
    # Not through sys.stdin: its lock, held by the waiting thread, would be in the way at the end.
    data = b""
    while not data.endswith(b"\n"):
        chunk = os.read(0, 1 << 16)
        if not chunk:
            sys.exit(_ABANDONED)
        data += chunk
    return data.decode()


def _exit_with_parent() -> None:
    while os.read(0, 1 << 16):
        pass
    os._exit(_ABANDONED)


if __name__ == "__main__":
    main()
