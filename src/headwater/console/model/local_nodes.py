"""The nodes of a cluster that runs on this machine, by way of `headwater cluster`.

The console knows no engine: it asks the command, as a person would, with the same outcome.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from pathlib import Path

_LOOK_WITHIN_S = 15.0
# A broker hands its leaderships over before it stops, and reads its log when it starts.
_CHANGE_WITHIN_S = 240.0
STOPPED = ("stopped", "down")


class LocalNode(NamedTuple):
    """A node, and how it is."""

    id: int
    name: str
    roles: tuple[str, ...]
    state: str
    """running, starting, stopped (on purpose) or down."""
    address: str
    pid: int | None
    quorum: str
    """leader or voter of the quorum; empty for a node that is no controller."""

    @property
    def is_stopped(self) -> bool:
        """Whether it can be started."""
        return self.state in STOPPED


class LocalNodes:
    """All methods block, and raise ClientError with what the command says."""

    def __init__(self, data: Path) -> None:
        """Take the directory that `headwater up --engine kafka` was given."""
        self.data = data

    def all(self) -> list[LocalNode]:
        """Return all nodes: brokers and controllers."""
        told = json.loads(self._run("status", "--json", within_s=_LOOK_WITHIN_S))
        return [
            LocalNode(
                each["id"],
                each["node"],
                tuple(each["roles"]),
                each["state"],
                each["address"],
                each["pid"],
                each["quorum"] or "",
            )
            for each in told["nodes"]
        ]

    def start(self, node: LocalNode) -> None:
        """Start a node, and wait until it is ready."""
        self._run("start-broker", str(node.id), within_s=_CHANGE_WITHIN_S)

    def stop(self, node: LocalNode) -> None:
        """Stop a node cleanly, and keep it down."""
        self._run("stop-broker", str(node.id), within_s=_CHANGE_WITHIN_S)

    def _run(self, *words: str, within_s: float) -> str:
        # -P: the working directory is the user's and must not shadow modules.
        command = [sys.executable, "-P", "-m", "headwater", "cluster", *words]
        try:
            done = subprocess.run(
                [*command, "--data", str(self.data)],
                capture_output=True,
                text=True,
                timeout=within_s,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise ClientError(
                f"`headwater cluster {words[0]}` has not ended after {within_s:g} s; see the "
                f"nodes' logs in {self.data}"
            ) from None
        if done.returncode:
            raise ClientError(done.stderr.strip().removeprefix("Error: "))
        return done.stdout
