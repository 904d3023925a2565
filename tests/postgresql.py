"""A real PostgreSQL for tests: its own data in a temporary folder, on a free port of loopback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Sequence

USER, PASSWORD, DATABASE = "connect", "connect-secret", "postgres"

_NOBODY = 65534
# Debian keeps the programs of each version in a folder of their own.
_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_PATH = os.pathsep.join([os.environ.get("PATH", ""), *map(str, _FOLDERS)])


def is_installed() -> bool:
    """Whether there is a PostgreSQL on this machine."""
    return shutil.which("initdb", path=_PATH) is not None


class PostgreSql:
    """A server with one database and one user, who may do all there.

    Its directory has to be in one that everybody may enter. `options` are the server's, such as
    `wal_level=logical`.
    """

    def __init__(self, directory: Path, options: Sequence[str] = ()) -> None:
        self._directory = directory
        self._options = options
        self._ports = FreePorts("127.0.0.1")
        self.port = self._ports.pick()
        self._server: ChildProcess | None = None
        password = directory / "password"
        password.write_text(PASSWORD)
        _let_nobody_in(directory)
        done = subprocess.run(
            [
                *_as_nobody(),
                _program("initdb"),
                f"--pgdata={directory / 'data'}",
                f"--username={USER}",
                f"--pwfile={password}",
                "--auth=scram-sha-256",
                "--no-sync",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        assert done.returncode == 0, done.stdout + done.stderr

    @property
    def url(self) -> str:
        """The address for JDBC."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._server = ChildProcess(
            [
                *_as_nobody(),
                _program("postgres"),
                "-D",
                str(self._directory / "data"),
                "-p",
                str(self.port),
                "-h",
                "127.0.0.1",
                "-k",
                "",
                "-F",
                "-c",
                "shared_buffers=32MB",
                *(word for option in self._options for word in ("-c", option)),
            ],
            ready="ready to accept connections",
        )
        assert self._server.wait_until_ready(HUNG_AFTER_S), self._server.last_lines
        wait_for(self._answers, lambda: self._server.last_lines if self._server else "")

    def run(self, sql: str) -> list[list[str]]:
        """Run SQL by PostgreSQL's own client; returns the rows of its queries."""
        done = self._client(sql)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def kill(self) -> None:
        """End the server at once, without a checkpoint, and its clients' connections with it."""
        assert self._server is not None
        self._server.stop(signal.SIGQUIT, HUNG_AFTER_S)

    def stop(self) -> None:
        """Stop the server."""
        if self._server is not None and self._server.running:
            # Told by SIGTERM, it would wait for its clients to leave.
            self._server.stop(signal.SIGINT, HUNG_AFTER_S)
        self._ports.close()

    def _answers(self) -> bool:
        return self._client("SELECT 1").returncode == 0

    def _client(self, sql: str) -> subprocess.CompletedProcess[str]:
        address = f"host=127.0.0.1 port={self.port} user={USER} dbname={DATABASE}"
        options = ["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--field-separator=\t"]
        return subprocess.run(
            [_program("psql"), address, *options, "--set=ON_ERROR_STOP=1"],
            input=sql,
            env={**os.environ, "PGPASSWORD": PASSWORD},
            capture_output=True,
            text=True,
            check=False,
        )


def _program(name: str) -> str:
    found = shutil.which(name, path=_PATH)
    assert found is not None, f"{name} is not installed"
    return found


def _as_nobody() -> Sequence[str]:
    """PostgreSQL refuses to be run by root, whom a container's user often is."""
    if os.geteuid() != 0:
        return []
    ids = [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return [_program("setpriv"), *ids, "--inh-caps=-all"]


def _let_nobody_in(directory: Path) -> None:
    if os.geteuid() != 0:
        return
    for each in (directory, *directory.iterdir()):
        os.chown(each, _NOBODY, _NOBODY)
