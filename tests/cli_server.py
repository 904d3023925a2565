"""Runs command lines in forks of a process that has imported Headwater already.

A command is still a process of its own, with its own standard streams, environment, folder and exit
code; it only saves the third of a second in which Python starts and imports. There is one server
for each process that asks. It must not have threads when it forks, so it does nothing else.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NEEDED_BY_MOST = ("confluent_kafka.admin", "headwater.cli.app", "rich.table")
_REQUEST_BYTES = 1 << 20


class CommandServer:
    """The asking side."""

    def __init__(self) -> None:
        self._asking, served = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with served:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli_server", str(served.fileno())],
                pass_fds=[served.fileno()],
                cwd=Path(__file__).parent.parent,
            )

    def run(
        self,
        arguments: Sequence[str],
        streams: tuple[int, int, int],
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> int:
        """Run a command to its end and return its exit code; kill it when the time is over."""
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with answers:
            with theirs:
                request = _Request([*arguments], {**environment}, str(Path.cwd()))
                fds = array.array("i", [*streams, theirs.fileno()])
                self._asking.sendmsg(
                    [json.dumps(request._asdict()).encode()],
                    [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)],
                )
            pid = int(answers.recv(64))
            answers.settimeout(timeout_s)
            try:
                return int(answers.recv(64))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired([*arguments], timeout_s) from None


@cache
def command_server() -> CommandServer:
    """Return this process's server; it ends with it."""
    return CommandServer()


class _Request(NamedTuple):
    arguments: list[str]
    environment: dict[str, str]
    folder: str


def _serve(requests: socket.socket) -> None:
    for module in _NEEDED_BY_MOST:
        importlib.import_module(module)
    # Nobody waits for the forks that wait for commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, fds, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, 4)
        if not message:
            return  # whoever asked has ended
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _wait_for_command(_Request(**json.loads(message)), fds)
        for fd in fds:
            os.close(fd)


def _wait_for_command(request: _Request, fds: list[int]) -> NoReturn:
    *streams, answers = fds
    pid = os.fork()
    if pid == 0:
        os.close(answers)
        _run(request, streams)
    for fd in streams:
        os.close(fd)
    # Whoever asked may have given up meanwhile.
    with contextlib.suppress(OSError), socket.socket(fileno=answers) as told:
        told.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        told.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(request: _Request, streams: list[int]) -> NoReturn:
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    from headwater.cli import main

    sys.argv = ["headwater", *request.arguments]
    # To the end of this module, and of the interpreter, as a command's own process would.
    sys.exit(main(request.arguments))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
