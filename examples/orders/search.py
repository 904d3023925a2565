"""The search service: orders by any words in them, over HTTP.

python -m examples.orders.search --port 9081 --index orders.db
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click
from examples.orders.search_index import SearchIndex
from examples.serving import Follower, options

from headwater.http.answers import answer
from headwater.http.app import App, call_handler
from headwater.http.errors import bad_request
from headwater.http.interface import Interface
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Parameter, Route
from headwater.http.service_process import run

if TYPE_CHECKING:
    from headwater.http.answers import Reply
    from headwater.http.request import Request

_MOST_FOUND = 100


@click.command()
@options
@click.option("--index", type=click.Path(path_type=Path), default="orders.db", show_default=True)
def main(bootstrap_server: str, port: int, index: Path) -> None:
    """Find orders."""
    raise SystemExit(run(lambda _: SearchService(bootstrap_server, index), "127.0.0.1", port))


class SearchService:
    """Answers out of an index that follows the orders."""

    title = "search"

    def __init__(self, servers: str, file: Path) -> None:
        self._index = SearchIndex(file)
        self._servers = servers
        self._following = Follower("follow")
        self.app = App(_INTERFACE, call_handler(self), RequestMetrics("search"))

    async def start(self) -> None:
        """Follow the orders from where the index is."""
        self._following.start(self._index.follow(self._servers))

    async def stop(self) -> None:
        """Leave; the index stays."""
        await self._following.stop()

    def summary(self) -> str:
        """Say how many orders there are."""
        return f"{self._index.size()} orders"

    async def find(self, request: Request) -> Reply:
        """Return the orders that have all of the words."""
        words = request.text("q").split()
        if not words:
            raise bad_request("Say what to look for, as /orders?q=tent")
        return answer(await asyncio.to_thread(self._index.find, words, _MOST_FOUND))


_INTERFACE: Interface[Route] = Interface(
    "Search",
    [
        Route(
            "GET",
            "/orders",
            SearchService.find,
            "Find orders",
            "Orders",
            query=(Parameter("q", "Words, or how they begin; all have to be there.", "string"),),
            errors=(400,),
            changes=True,
        )
    ],
)

if __name__ == "__main__":
    main()
