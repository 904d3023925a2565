"""What services share: options of their commands, asking them, and following topics beside."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import threading
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import click
from confluent_kafka import KafkaException

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

logger = logging.getLogger("examples")

_ANSWERED_WITHIN_S = 10.0

broker = click.option(
    "--bootstrap-server",
    envvar="HEADWATER_BOOTSTRAP_SERVER",
    default="localhost:9092",
    show_default=True,
    help="Where the broker is.",
)
port = click.option("--port", type=int, default=0, help="Where to listen; any port for 0.")


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take both."""
    return broker(port(command))


def ask(url: str, posted: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Post something to a service, or get it; None where it was not answered, or refused."""
    data = None if posted is None else json.dumps(posted).encode()
    request = Request(url, data, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=_ANSWERED_WITHIN_S) as answered:
            found: dict[str, Any] = json.load(answered)
            return found
    except (URLError, OSError):
        return None


class Follower:
    """Takes events as they come, in a thread beside the requests of a service.

    What cannot be read or written ends the process: whoever starts it again goes on from what is
    in the topics.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, rounds: Generator[Any]) -> None:
        """Begin; each round is one of a generator that never ends."""
        self._thread = threading.Thread(target=self._run, args=(rounds,), name=self._name)
        self._thread.start()

    async def stop(self) -> None:
        """Wait for the end of the round under way."""
        self._stopping.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self, rounds: Generator[Any]) -> None:
        try:
            for _ in rounds:
                if self._stopping.is_set():
                    rounds.close()
                    return
        except (KafkaException, RuntimeError) as failure:
            give_up(failure)


def give_up(failure: Exception) -> None:
    """End this process in order."""
    logger.error("ending, since topics cannot be read or written: %s", failure)
    signal.raise_signal(signal.SIGTERM)
