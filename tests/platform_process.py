"""The platform as users run it: `headwater up` on free ports, with its addresses read from it."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from tests.unit.up.supervised import Supervised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class PlatformProcess(Supervised):
    """One `headwater up`; ready, with all its services healthy, once it is constructed.

    Without the console, which takes a second to start, and which few tests look at.
    """

    def __init__(self, directory: Path, options: Sequence[str] = ()) -> None:
        command = [
            *(sys.executable, "-m", "headwater", "up", "--free-ports"),
            *("--without", "console"),
            *("--data", str(directory / "platform"), *options),
        ]
        super().__init__(command, directory)
        try:
            self.registry_url = self.wait_for(r"^registry\t(\S+)\t")[1]
        except BaseException:
            self.__exit__(None, None, None)
            raise
        found = [line.split("\t")[1] for line in self.lines if line.startswith("broker\t")]
        self.bootstrap_servers = found[0] if found else ""

    def stop(self) -> None:
        """End it as Ctrl-C does, and insist that it ends well and leaves nothing behind."""
        self.signal(signal.SIGINT)
        code = self.wait()
        assert code == 0, f"it ended with {code}:\n{self.text}"
        assert "Traceback" not in self.text, self.text
        assert self.survivors() == []
