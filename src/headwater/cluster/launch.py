"""Becomes a node: `python -m headwater.cluster.launch FILE COMMAND...` notes who it is, and execs.

So the number in the file is the node's own whatever its command starts with, and the file is there
before the node is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from headwater.processes.process_id import ProcessId


def main() -> None:
    """Write this process into a file and go on as another program."""
    file, *command = sys.argv[1:]
    me = ProcessId.of(os.getpid())
    assert me is not None
    me.write(Path(file))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
