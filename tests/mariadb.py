"""A real MariaDB for tests, with a shop's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples import mariadb
from examples.mariadb import is_installed

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DATABASE", "PASSWORD", "USER", "MariaDb", "is_installed"]

USER, PASSWORD, DATABASE = "connect", "connect-secret", "shop"


class MariaDb(mariadb.MariaDb):
    """A server with one database and one user, who may do all there."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, database=DATABASE, user=USER, password=PASSWORD)
