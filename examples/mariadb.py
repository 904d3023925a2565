"""A real MariaDB: its own data in a folder of its own, on a free port of loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.processes.guard import Guard

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
_WITHIN_S = 180.0
_PAUSE_S = 0.02
SMALL = (
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=8M",
    "--innodb-flush-log-at-trx-commit=2",
    "--performance-schema=OFF",
    "--skip-name-resolve",
)
"""Options of a server that has little to do."""


def is_installed() -> bool:
    """Whether there is a MariaDB on this machine."""
    return shutil.which("mariadbd", path=_PATH) is not None


class MariaDbError(Exception):
    """The server did not start, or did not take a statement; the message has its own words."""


class MariaDb:
    """A server with one database and one user, who may do all there.

    `options` are the server's own; `guard` ends it should this process be killed.
    """

    def __init__(
        self,
        directory: Path,
        *,
        database: str,
        user: str,
        password: str,
        options: Sequence[str] = (*SMALL, "--skip-log-bin"),
        guard: Guard | None = None,
    ) -> None:
        self.database, self.user, self.password = database, user, password
        self._directory = directory
        self._options = options
        self._guard = guard
        self._ports = FreePorts("127.0.0.1")
        self.port = self._ports.pick()
        self._server: ChildProcess | None = None
        _run(
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={directory / 'data'}",
            *_as_root(),
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        )

    @property
    def url(self) -> str:
        """The address for JDBC."""
        return f"jdbc:mariadb://127.0.0.1:{self.port}/{self.database}"

    @property
    def is_running(self) -> bool:
        """Whether the server was started and has not ended."""
        return self._server is not None and self._server.running

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        begin = self._directory / "begin.sql"
        begin.write_text(
            f"CREATE DATABASE IF NOT EXISTS `{self.database}`;\n"
            f"CREATE USER IF NOT EXISTS '{self.user}'@'%' IDENTIFIED BY '{self.password}';\n"
            f"GRANT ALL ON *.* TO '{self.user}'@'%';\n"
        )
        server = ChildProcess(
            [
                _program("mariadbd"),
                "--no-defaults",
                f"--datadir={self._directory / 'data'}",
                "--socket=socket",  # in the data's folder: a longer path may be too long for one
                f"--port={self.port}",
                "--bind-address=127.0.0.1",
                f"--init-file={begin}",
                *_as_root(),
                *self._options,
            ],
            ready="ready for connections",
            guard=self._guard,
        )
        self._server = server
        deadline = time.monotonic() + _WITHIN_S
        is_ready = server.wait_until_ready(_WITHIN_S) is not None
        while not (is_ready and self._client("SELECT 1").returncode == 0):
            if not server.running or time.monotonic() > deadline:
                raise MariaDbError(f"MariaDB does not answer:\n{server.last_lines}")
            time.sleep(_PAUSE_S)

    def run(self, sql: str) -> list[list[str]]:
        """Run SQL by MariaDB's own client; returns the rows of the last query."""
        done = self._client(sql)
        if done.returncode != 0:
            raise MariaDbError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def kill(self) -> None:
        """End the server without warning."""
        if self._server is not None:
            self._server.kill()
            self._server.wait(_WITHIN_S)

    def stop(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.stop(within_s=_WITHIN_S)
        self._ports.close()

    def _client(self, sql: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                _program("mariadb"),
                "--no-defaults",
                f"--user={self.user}",
                f"--password={self.password}",
                "--protocol=tcp",
                "--host=127.0.0.1",
                f"--port={self.port}",
                "--default-character-set=utf8mb4",
                "--batch",
                "--skip-column-names",
                self.database,
            ],
            input=sql,
            capture_output=True,
            text=True,
            check=False,
        )


def _program(name: str) -> str:
    found = shutil.which(name, path=_PATH)
    if found is None:
        raise MariaDbError(
            f"{name} is not installed; on Debian and Ubuntu it is in the package mariadb-server"
        )
    return found


def _as_root() -> Sequence[str]:
    # It runs as root only if it is told to, and a container's user often is.
    return ["--user=root"] if os.geteuid() == 0 else []


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run(
        [_program(program), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise MariaDbError(done.stdout + done.stderr)
