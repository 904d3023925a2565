"""Draw docs/recording.svg, the README's picture: real commands against a real broker.

Run it with `.venv/bin/python docs/recording.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from headwater.testing import Broker

COMMANDS = [
    "headwater topics create readings --partitions 3",
    r"printf 'boiler-1:812\nboiler-2:790\nboiler-1:815\n' | headwater produce readings "
    "--key-separator :",
    r"headwater consume readings --from-beginning --until-end "
    r"--format '%k = %v  (%t-%p, offset %o)\n'",
    r"kcat -b localhost:9092 -t readings -C -e -q -f '%k = %s\n'",
    "headwater perf produce load --num-records 1000000",
    "headwater perf latency ping --num-records 1000",
]


def main() -> None:
    """Run the commands and save what a terminal would have shown."""
    console = Console(record=True, width=108, file=open(os.devnull, "w"))  # noqa: SIM115
    with Broker({"flush": "fsync"}) as broker:
        broker.create_topic("load")
        broker.create_topic("ping")
        for command in COMMANDS:
            console.print(Text("$ ", style="bold green") + Text(command, style="bold"))
            console.print(Text(_output(command, broker.bootstrap_servers)))
    path = Path(__file__).with_suffix(".svg")
    # The template would have the reader's browser fetch a font from elsewhere.
    picture = re.sub(
        r"@font-face \{.*?\}\s*", "", console.export_svg(title="Headwater"), flags=re.DOTALL
    )
    path.write_text(picture)


def _output(command: str, bootstrap_servers: str) -> str:
    environment = {
        **os.environ,
        "HEADWATER_BOOTSTRAP_SERVER": bootstrap_servers,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", command.replace("localhost:9092", bootstrap_servers)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return (done.stdout + done.stderr).expandtabs(14).rstrip() + "\n"


main()
