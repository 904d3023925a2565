"""Runs the programs of the peers, in an environment with their pinned versions."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.pipeline.programs import Kind, Topics

ENVIRONMENT = Path(__file__).parents[2] / ".venv-peers"
# uvloop and orjson are what Faust's own documentation recommends for speed.
REQUIREMENTS = ("quixstreams==3.28.1", "faust-streaming==0.15.3", "uvloop==0.22.1", "orjson")

_PROGRAMS = Path(__file__).with_name("peers")
_SECONDS = re.compile(r"^seconds=(\S+)$", re.MULTILINE)
_END_WITHIN_S = 900.0


class Peer(NamedTuple):
    """Another library that runs the same jobs."""

    name: str
    program: str


QUIX_STREAMS = Peer("Quix Streams", "quix_streams.py")
FAUST = Peer("Faust", "faust_streaming.py")
PEERS = (QUIX_STREAMS, FAUST)


def install(say: Callable[[str], None]) -> None:
    """Make the peers' environment, once."""
    done = ENVIRONMENT / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if done.exists() and done.read_text() == wanted:
        return
    say(f"installing {', '.join(REQUIREMENTS)} into {ENVIRONMENT.name}")
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    venv.create(ENVIRONMENT, with_pip=True)
    pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, *REQUIREMENTS], check=True)
    done.write_text(wanted)


def has(kind: Kind) -> bool:
    """Tell whether the peers run this: Faust joins no two streams by time."""
    return kind != "pair"


class PeerFailed(Exception):  # noqa: N818 - says what is the case
    """A peer did not end a job; the message has what it said."""


def run(peer: Peer, kind: Kind, bootstrap_servers: str, topics: Topics, records: int) -> float:
    """Let a peer process so many records; return the seconds from the first to the last."""
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as state:
        command = [str(ENVIRONMENT / "bin" / "python"), str(_PROGRAMS / peer.program)]
        command += [kind, bootstrap_servers, topics.readings, topics.limits, topics.output]
        command += [str(records), state]
        try:
            ended = subprocess.run(
                command,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                cwd=state,
                timeout=_END_WITHIN_S,
            )
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode(errors="replace")
            raise PeerFailed(
                f"{peer.name} did not process {records:,} records within {_END_WITHIN_S:.0f} s:\n"
                f"{said[-2000:]}"
            ) from None
    found = _SECONDS.search(ended.stdout)
    if found is None:
        raise PeerFailed(
            f"{peer.name} ended before the last record (exit code {ended.returncode}):\n"
            f"{ended.stdout[-2000:]}"
        )
    return float(found[1])
