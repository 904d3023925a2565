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
_END_WITHIN_S = 1_800.0


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


def run(peer: Peer, kind: Kind, bootstrap_servers: str, topics: Topics, records: int) -> float:
    """Let a peer process so many records; return the seconds from the first to the last."""
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as state:
        command = [str(ENVIRONMENT / "bin" / "python"), str(_PROGRAMS / peer.program)]
        command += [kind, bootstrap_servers, *topics, str(records), state]
        ended = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=state, timeout=_END_WITHIN_S
        )
    found = _SECONDS.search(ended.stdout)
    if found is None:
        raise RuntimeError(
            f"{peer.name} did not end the job {kind!r} (exit code {ended.returncode}):\n"
            f"{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}"
        )
    return float(found[1])
