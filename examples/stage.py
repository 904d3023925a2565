"""What every example needs: a platform of its own, programs on it, and an end by Ctrl-C."""

from __future__ import annotations

import queue
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.processes.child import ChildProcess
from headwater.processes.guard import Guard
from headwater.processes.ports import is_free
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_USUAL_PORTS = (9092, 8081, 8082, 8083, 8088, 9020, 9021)
_READY_WITHIN_S = 60.0
_STOPPED_WITHIN_S = 60.0


class StoppedError(Exception):
    """Somebody pressed Ctrl-C before the platform was there."""


@dataclass
class Stage:
    """A platform that runs, with data that go when it ends."""

    servers: str
    registry: str
    console: str
    data: Path
    stop: threading.Event
    """Set by Ctrl-C and SIGTERM, so that everything ends in its order."""
    _guard: Guard

    def create_topics(self, *names: str, config: Mapping[str, str] | None = None) -> None:
        """Create topics of one partition each."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        wanted = [NewTopic(name, 1, 1, config=dict(config or {})) for name in names]
        for done in admin.create_topics(wanted).values():
            done.result(30)

    @contextmanager
    def program(self, path: Path, *options: str) -> Iterator[Program]:
        """Run a streams program in a process of its own, and end it as Ctrl-C would."""
        checkpoints = self.data / "checkpoints" / path.stem
        arguments = ["run", str(path), "--checkpoint-dir", str(checkpoints), *options]
        environment = {
            "HEADWATER_BOOTSTRAP_SERVER": self.servers,
            "HEADWATER_REGISTRY": self.registry,
        }
        with _headwater(self._guard, arguments, environment) as running:
            yield running


@dataclass
class Program:
    """A process of ours, and what it says."""

    child: ChildProcess
    _printed: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)

    def said(self) -> Iterator[str]:
        """Return the lines that it has written since."""
        while not self._printed.empty():
            yield self._printed.get()

    def check(self) -> None:
        """Raise an error if it has ended, although nobody asked it to."""
        if not self.child.running:
            raise click.ClickException(f"the program ended:\n{self.child.last_lines}")


@contextmanager
def stage(name: str, *options: str) -> Iterator[Stage]:
    """Start a platform, on the usual ports if they are free, with further options of `up`."""
    with (
        TemporaryFolder(name) as data,
        _stop_requests() as stop,
        Guard(_STOPPED_WITHIN_S) as guard,
        _headwater(guard, [*_up(data / "platform"), *options]) as platform,
    ):
        servers, registry, console = _addresses(platform, stop)
        yield Stage(servers, registry, console, data, stop, guard)


@contextmanager
def _headwater(
    guard: Guard, arguments: list[str], environment: Mapping[str, str] | None = None
) -> Iterator[Program]:
    printed: queue.SimpleQueue[str] = queue.SimpleQueue()

    def hand_over(read: list[str]) -> None:
        for line in read:
            printed.put(line)

    command = [sys.executable, "-m", "headwater", *arguments]
    child = ChildProcess(command, guard=guard, on_lines=hand_over, environment=environment)
    try:
        yield Program(child, printed)
    finally:
        child.stop(signal.SIGINT, _STOPPED_WITHIN_S)


def _up(data: Path) -> list[str]:
    usual = all(is_free(port) for port in _USUAL_PORTS)
    return ["up", "--data", str(data), *([] if usual else ["--free-ports"])]


def _addresses(platform: Program, stop: threading.Event) -> tuple[str, str, str]:
    """Wait for the table of what listens where."""
    found: dict[str, str] = {}
    deadline = time.monotonic() + _READY_WITHIN_S
    while not {"broker", "registry", "console"} <= found.keys():
        if stop.wait(0.05):
            raise StoppedError
        if not platform.child.running or time.monotonic() > deadline:
            said = platform.child.last_lines
            raise click.ClickException(f"the platform did not start:\n{said}")
        for line in platform.said():
            parts = line.split("\t")
            if len(parts) == 3:
                found[parts[0]] = parts[1]
    return found["broker"], found["registry"], found["console"]


@contextmanager
def _stop_requests() -> Iterator[threading.Event]:
    stop = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda *_: stop.set()) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
