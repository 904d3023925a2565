"""Quix Streams and Faust: Python, a process each, and at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.pipeline.peer import PROGRAMS, Peer, PythonEnvironment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.pipeline.peer import PeerJob
    from benchmarks.pipeline.programs import Guarantee, Kind

# uvloop and orjson are what Faust's own documentation recommends for speed.
ENVIRONMENT = PythonEnvironment(
    ".venv-peers", ("quixstreams==3.28.1", "faust-streaming==0.15.3", "uvloop==0.22.1", "orjson")
)


class PythonPeer(Peer):
    """A library that needs minutes for what the others do in seconds."""

    has_warm_up = False

    def __init__(self, name: str, program: str) -> None:
        self.name = name
        self._program = program

    def install(self, say: Callable[[str], None]) -> None:
        """Make the environment of all of them."""
        ENVIRONMENT.install(say)

    def has(self, kind: Kind, guarantee: Guarantee) -> bool:
        """Tell whether its program has the job: neither library joins tables or has sessions."""
        return guarantee == "at_least_once" and kind in ("filter", "count", "join")

    def command(self, job: PeerJob, state: Path) -> list[str]:
        """Return its interpreter with its program."""
        program = [str(ENVIRONMENT.python), str(PROGRAMS / self._program)]
        topics, records = job.measured
        names = (topics.readings, topics.limits, topics.output)
        return [*program, job.kind, job.bootstrap_servers, *names, str(records), str(state)]


QUIX_STREAMS = PythonPeer("Quix Streams", "quix_streams.py")
FAUST = PythonPeer("Faust", "faust_streaming.py")
