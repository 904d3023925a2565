"""Other libraries that run the same jobs, each in a process and an environment of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import venv
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headwater.processes.child import ChildProcess, describe_exit
from headwater.processes.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.pipeline.programs import Guarantee, Kind, Topics

PROGRAMS = Path(__file__).with_name("peers")

_ROOT = Path(__file__).parents[2]
_SECONDS = re.compile(r"^seconds=(\S+)$")
_END_WITHIN_S = 1_800.0
_STOPPED_WITHIN_S = 5.0


class Run(NamedTuple):
    """Topics, and how many records a peer reads of them."""

    topics: Topics
    records: int

    @property
    def arguments(self) -> list[str]:
        """What its program is told: topics, how close pairs are, and how many records it reads."""
        return [*map(str, self.topics), str(self.records)]


class PeerJob(NamedTuple):
    """What a peer is asked to do: a job over some topics, after one that warms it up."""

    kind: Kind
    guarantee: Guarantee
    bootstrap_servers: str
    warm_up: Run
    measured: Run


class PeerFailed(Exception):  # noqa: N818 - says what is the case
    """A peer did not end a job; the message has what it said."""


class Peer(ABC):
    """Another library, whose program prints the seconds that a job took."""

    name: str
    has_warm_up = True
    """Whether it has a JVM to warm up, and so processes all records."""

    @abstractmethod
    def install(self, say: Callable[[str], None]) -> None:
        """Make what it needs, once."""

    @abstractmethod
    def has(self, kind: Kind, guarantee: Guarantee) -> bool:
        """Tell whether it runs such a job."""

    @abstractmethod
    def command(self, job: PeerJob, state: Path) -> list[str]:
        """Return what runs a job, with a folder for its state."""

    def environment(self) -> Mapping[str, str]:
        """Return what is to be in its environment."""
        return {}

    def run(self, job: PeerJob) -> float:
        """Let it process a job; return the seconds. Raises PeerFailed.

        Whatever happens here, Ctrl-C and kills included, ends all that the peer has started.
        """
        said: list[str] = []
        with (
            tempfile.TemporaryDirectory(prefix="headwater-bench-") as state,
            Guard(kills_after_s=_STOPPED_WITHIN_S) as guard,
        ):
            child = ChildProcess(
                self.command(job, Path(state)),
                guard=guard,
                on_lines=said.extend,
                environment=self.environment(),
                directory=Path(state),
            )
            try:
                code = child.wait(_END_WITHIN_S)
            except TimeoutError as late:
                raise PeerFailed(f"{self.name}: {late}:\n{_end(said)}") from None
            finally:
                child.stop(within_s=_STOPPED_WITHIN_S)
        found = next(filter(None, map(_SECONDS.match, said)), None)
        if found is None:
            raise PeerFailed(
                f"{self.name} ended before the last record ({describe_exit(code)}):\n{_end(said)}"
            )
        return float(found[1])


class PythonEnvironment(NamedTuple):
    """A virtual environment with pinned versions, since peers' requirements are not ours."""

    folder: str
    requirements: tuple[str, ...]

    @property
    def python(self) -> Path:
        return _ROOT / self.folder / "bin" / "python"

    def install(self, say: Callable[[str], None]) -> None:
        """Make it, unless it is there."""
        done = _ROOT / self.folder / "requirements.txt"
        wanted = "\n".join(self.requirements)
        if done.exists() and done.read_text() == wanted:
            return
        say(f"installing {', '.join(self.requirements)} into {self.folder}")
        shutil.rmtree(_ROOT / self.folder, ignore_errors=True)
        venv.create(_ROOT / self.folder, with_pip=True)
        pip = [str(self.python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *self.requirements], check=True)
        done.write_text(wanted)


def _end(said: list[str]) -> str:
    return "\n".join(said)[-2000:]
