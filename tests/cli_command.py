"""The command line as users run it: a process of its own, its output and its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from tests.cli_server import command_server

# Far more than any command needs: only a hang takes this long.
HUNG_AFTER_S = 120.0


class Finished(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Cli:
    """Runs `headwater` commands against one broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.environment = {
            **os.environ,
            "HEADWATER_BOOTSTRAP_SERVER": bootstrap_servers,
            "COLUMNS": "100",
        }

    def __call__(self, *arguments: object, stdin: str | bytes = "") -> Finished:
        """Run a command to its end; whatever happens, it must not print a traceback."""
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
            given.write(stdin.encode() if isinstance(stdin, str) else stdin)
            given.seek(0)
            code = command_server().run(
                [*map(str, arguments)],
                (given.fileno(), out.fileno(), err.fileno()),
                self.environment,
                HUNG_AFTER_S,
            )
            finished = Finished(code, _text_of(out), _text_of(err))
        assert "Traceback" not in finished.err, finished.err
        return finished

    def ok(self, *arguments: object, stdin: str | bytes = "") -> str:
        """Run a command that must work, and return what it printed."""
        finished = self(*arguments, stdin=stdin)
        assert finished.code == 0, finished
        return finished.out

    def json(self, *arguments: object) -> Any:
        return json.loads(self.ok(*arguments, "--json"))

    def records(self, topic: str, *options: object) -> list[dict[str, Any]]:
        """Read all records of a topic as JSON objects."""
        out = self.ok("consume", topic, "--from-beginning", "--until-end", "--json", *options)
        return [json.loads(line) for line in out.splitlines()]

    def start(self, *arguments: object, stdin: int | IO[bytes] | None = None) -> Running:
        return Running(
            subprocess.Popen(
                self.command(*arguments),
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=self.environment,
            )
        )

    @staticmethod
    def command(*arguments: object) -> list[str]:
        return [sys.executable, "-m", "headwater", *map(str, arguments)]


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


class Running:
    """A command that still runs; leaving the `with` block kills it if need be."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdout, self.stderr = process.stdout, process.stderr

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def interrupt(self) -> int:
        """Press Ctrl-C and wait for the end."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(HUNG_AFTER_S)
