"""The command line: `headwater`, `hw` and `python -m headwater`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main", "program"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; `sys.argv` is used when none is given."""
    try:
        # Imported here, so that Ctrl-C during the first milliseconds is as quiet as later on.
        from headwater.cli.app import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return 130


def program() -> NoReturn:
    """Be the program `headwater`: run its command line, and end the process."""
    from headwater.cli.process_end import ProcessEnd

    end = ProcessEnd()
    end.code = main()
    sys.exit(end.code)
