"""A real MariaDB for tests, with a shop's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples import mariadb
from examples.mariadb import SMALL, is_installed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["BINLOG", "DATABASE", "PASSWORD", "USER", "MariaDb", "is_installed"]

USER, PASSWORD, DATABASE = "connect", "connect-secret", "shop"
BINLOG = (
    "--log-bin=binlog",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-metadata=FULL",
)
"""What a server is started with whose changes are captured."""


class MariaDb(mariadb.MariaDb):
    """A server with one database and one user, who may do all there.

    `options` are the server's, such as `BINLOG`.
    """

    def __init__(self, directory: Path, options: Sequence[str] = ("--skip-log-bin",)) -> None:
        super().__init__(
            directory,
            database=DATABASE,
            user=USER,
            password=PASSWORD,
            options=(*SMALL, *options),
        )
