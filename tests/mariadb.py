"""A real MariaDB for tests: its own data in a temporary folder, on a free port of loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

USER, PASSWORD, DATABASE = "connect", "connect-secret", "shop"

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
_LOGIN = ("--no-defaults", f"--user={USER}", f"--password={PASSWORD}")
_SMALL = (
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=8M",
    "--innodb-flush-log-at-trx-commit=2",
    "--performance-schema=OFF",
    "--skip-name-resolve",
    "--skip-log-bin",
)
BINLOG = (
    "--log-bin=binlog",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-metadata=FULL",
)
"""What a server is started with whose changes are captured."""


def is_installed() -> bool:
    """Whether there is a MariaDB on this machine."""
    return shutil.which("mariadbd", path=_PATH) is not None


class MariaDb:
    """A server with one database and one user, who may do all there.

    `options` are the server's, such as `BINLOG`.
    """

    def __init__(self, directory: Path, options: Sequence[str] = ()) -> None:
        self._directory = directory
        self._options = options
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
        return f"jdbc:mariadb://127.0.0.1:{self.port}/{DATABASE}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        begin = self._directory / "begin.sql"
        begin.write_text(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
            f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'%';\n"
        )
        self._server = ChildProcess(
            [
                _program("mariadbd"),
                "--no-defaults",
                f"--datadir={self._directory / 'data'}",
                f"--socket={self._directory / 'socket'}",
                f"--port={self.port}",
                "--bind-address=127.0.0.1",
                f"--init-file={begin}",
                *_as_root(),
                *_SMALL,
                *self._options,
            ],
            ready="ready for connections",
        )
        assert self._server.wait_until_ready(HUNG_AFTER_S), self._server.last_lines
        wait_for(self._answers, lambda: self._server.last_lines if self._server else "")

    def run(self, sql: str) -> list[list[str]]:
        """Run SQL by MariaDB's own client; returns the rows of the last query."""
        done = self._client(sql)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def kill(self) -> None:
        """End the server without warning."""
        assert self._server is not None
        self._server.kill()
        self._server.wait(HUNG_AFTER_S)

    def stop(self) -> None:
        """Stop the server."""
        if self._server is not None and self._server.running:
            self._server.stop(within_s=HUNG_AFTER_S)
        self._ports.close()

    def _answers(self) -> bool:
        return self._client("SELECT 1").returncode == 0

    def _client(self, sql: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                _program("mariadb"),
                *_LOGIN,
                "--protocol=tcp",
                "--host=127.0.0.1",
                f"--port={self.port}",
                "--batch",
                "--skip-column-names",
                DATABASE,
            ],
            input=sql,
            capture_output=True,
            text=True,
            check=False,
        )


def _program(name: str) -> str:
    found = shutil.which(name, path=_PATH)
    assert found is not None, f"{name} is not installed"
    return found


def _as_root() -> Sequence[str]:
    # It runs as root only if it is told to, and a container's user often is.
    return ["--user=root"] if os.geteuid() == 0 else []


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run(
        [_program(program), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
