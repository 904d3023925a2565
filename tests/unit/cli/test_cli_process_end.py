"""How the process of a command ends: with all that Python does then, and none of C's handlers."""

from __future__ import annotations

import subprocess
import sys

import pytest

# A C library's handler for the end of the process, here one that kills it.
_KILL_AT_EXIT = """
import ctypes
libc = ctypes.CDLL(None)
if hasattr(libc, "on_exit"):
    libc.on_exit(libc.abort, None)
else:
    libc.atexit(libc.abort)
"""
_MADE = """
from headwater.cli.process_end import ProcessEnd
end = ProcessEnd()
"""


def test_handlers_of_c_libraries_are_not_called() -> None:
    assert _run(f"{_KILL_AT_EXIT}").returncode < 0, "the handler is of no use to this test"
    assert _run(f"{_MADE}{_KILL_AT_EXIT}end.code = 3").returncode == 3


def test_what_python_does_at_the_end_is_done() -> None:
    done = _run(f"""{_MADE}
import atexit, sys, threading, time
atexit.register(lambda: print("called"))
sys.stdout.write("not flushed, ")
def late():
    threading.main_thread().join()
    sys.stdout.write("waited for, ")
threading.Thread(target=late).start()
end.code = 0
""")

    assert (done.stdout, done.returncode) == ("not flushed, waited for, called\n", 0)


def test_without_a_code_python_ends_the_process() -> None:
    done = _run(f"{_MADE}raise ValueError('told')")

    assert "ValueError: told" in done.stderr
    assert done.returncode == 1


def test_closed_streams_are_no_reason_to_end_otherwise() -> None:
    assert (
        _run(f"{_MADE}import sys; sys.stdout.close(); sys.stderr = None; end.code = 4").returncode
        == 4
    )


@pytest.mark.parametrize(("argument", "code"), [("--version", 0), ("--nonsense", 2)])
def test_the_program_ends_so_with_its_exit_code(argument: str, code: int) -> None:
    program = f"""{_KILL_AT_EXIT}
import sys
from headwater.cli import program
sys.argv = ["headwater", {argument!r}]
program()
"""
    assert _run(program).returncode == code


def _run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
