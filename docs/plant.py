"""Draw docs/plant.svg, the README's picture: the plant as `make run` shows it after a minute.

Run it with `.venv/bin/python docs/plant.py`.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
SECONDS = 100
_COLUMNS, _LINES = 112, 40


def main() -> None:
    """Run the plant on a terminal of our own and save what it shows last."""
    terminal, its_side = pty.openpty()
    plant = subprocess.Popen(
        [sys.executable, "-m", "examples.plant", "--seconds", str(SECONDS)],
        cwd=ROOT, stdin=its_side, stdout=its_side, stderr=its_side,
        env={**os.environ, "COLUMNS": str(_COLUMNS), "LINES": str(_LINES), "TERM": "xterm"},
    )  # fmt: skip
    os.close(its_side)
    shown = _read_all(terminal, time.monotonic() + 3 * SECONDS)
    if plant.wait() != 0:
        raise SystemExit(shown.decode("utf-8", "replace"))
    console = Console(record=True, width=_COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text("$ make run", style="bold"))
    console.print(Text.from_ansi(_last_frame(shown.decode("utf-8", "replace"))))
    console.save_svg(str(Path(__file__).with_suffix(".svg")), title="make run")


def _read_all(terminal: int, deadline: float) -> bytes:
    shown = b""
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            return shown
        if not part:
            return shown
        shown += part
    raise SystemExit("the plant did not end")


def _last_frame(shown: str) -> str:
    """Return what stands after the cursor went up for the last time."""
    frames = re.split(r"\r?(?:\x1b\[2K|\x1b\[1A)+", shown)
    return frames[-1].replace("\r", "").strip("\n")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main()
