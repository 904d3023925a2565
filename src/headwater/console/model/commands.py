"""What a page shows or does, as a command that can be copied to a terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.console.model.records.records import Query

_DEFAULT_SERVERS = ("localhost:9092", "127.0.0.1:9092")


class Commands:
    """Writes `headwater` commands for one cluster, and curl's for services beside it."""

    def __init__(self, bootstrap_servers: str, registry_url: str | None) -> None:
        self._servers = bootstrap_servers
        self._registry_url = registry_url

    def headwater(self, *words: str) -> str:
        """Return a command, with the cluster's address where it is not the usual one.

        >>> Commands("kafka:9092", None).headwater("topics", "describe", "a b")
        "headwater topics describe 'a b' --bootstrap-server kafka:9092"
        """
        where = [] if self._servers in _DEFAULT_SERVERS else ["--bootstrap-server", self._servers]
        return shlex.join(["headwater", *words, *where])

    def consume(self, query: Query) -> str:
        """Return what prints records from where a page starts."""
        position = f"-{query.limit}" if query.is_newest_first else query.start
        words = ["consume", query.topic, "--offset", position, "--until-end", "--json"]
        if query.partition is not None:
            words += ["--partition", str(query.partition)]
        return self.headwater(*words)

    def share_group(self, name: str) -> str:
        """Return Kafka's own command for a share group."""
        words = ("--bootstrap-server", self._servers, "--describe", "--group", name)
        return shlex.join(["kafka-share-groups.sh", *words])

    def registry(self, path: str) -> str:
        """Return what asks the registry."""
        return shlex.join(["curl", f"{self._registry_url}{path}"])

    @staticmethod
    def connect(url: str, *words: str) -> str:
        """Return what asks a Connect worker."""
        return shlex.join(["headwater", "connect", *words, *_url(url, 8083)])

    @staticmethod
    def sql(url: str, statement: str = "") -> str:
        """Return what asks a SQL server."""
        words = ["--execute", statement] if statement else []
        return shlex.join(["headwater", "sql", *words, *_url(url, 8088)])


def _url(url: str, default_port: int) -> list[str]:
    usual = [f"http://{host}:{default_port}" for host in ("localhost", "127.0.0.1")]
    return [] if url in usual else ["--url", url]
