"""A real MQTT broker for tests: mosquitto on a free port of loopback, with its data in a folder."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from tests.waiting import HUNG_AFTER_S

from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from pathlib import Path

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])


def is_installed() -> bool:
    """Whether there is a mosquitto on this machine."""
    return shutil.which("mosquitto", path=_PATH) is not None


class Mosquitto:
    """An MQTT broker that remembers its sessions, also when it is stopped and started again."""

    def __init__(self, directory: Path) -> None:
        self._ports = FreePorts("127.0.0.1")
        self.port = self._ports.pick()
        self._file = directory / "mosquitto.conf"
        self._server: ChildProcess | None = None
        own = "user root\n" if os.geteuid() == 0 else ""
        self._file.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nlog_dest stderr\n"
            f"persistence true\npersistence_location {directory}/\nmax_inflight_messages 0\n{own}"
        )

    @property
    def uri(self) -> str:
        """Where it is, as mqtt.server.uri has it."""
        return f"tcp://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        program = shutil.which("mosquitto", path=_PATH)
        assert program is not None, "mosquitto is not installed"
        self._server = ChildProcess([program, "-c", str(self._file)], ready=r"mosquitto .* running")
        assert self._server.wait_until_ready(HUNG_AFTER_S), self._server.last_lines

    def stop(self) -> None:
        """Stop it; sessions are on disk then."""
        if self._server is not None:
            self._server.stop(within_s=HUNG_AFTER_S)

    def close(self) -> None:
        """Stop it, and give the port back."""
        self.stop()
        self._ports.close()
