"""What every example needs: a platform of its own, programs on it, and an end by Ctrl-C."""

from __future__ import annotations

import queue
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import click
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.processes.child import ChildProcess
from headwater.processes.guard import Guard
from headwater.processes.ports import is_free
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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
    data: Path
    stop: threading.Event
    """Set by Ctrl-C and SIGTERM, so that everything ends in its order."""
    guard: Guard
    """Ends what is started here should this process be killed."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Where each service listens."""
    process: Program | None = None
    """The platform itself, where it was started here."""

    @property
    def console(self) -> str:
        """Where a browser finds the console."""
        return self.endpoints["console"]

    def create_topics(self, *names: str, config: Mapping[str, str] | None = None) -> None:
        """Create topics of one partition each."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        wanted = [NewTopic(name, 1, 1, config=dict(config or {})) for name in names]
        for done in admin.create_topics(wanted).values():
            done.result(30)

    def program(
        self, path: Path, *options: str, environment: Mapping[str, str] | None = None
    ) -> Program:
        """Start a streams program; started again, it goes on from its checkpoint."""
        checkpoints = self.data / "checkpoints" / path.stem
        checkpoint = ("--checkpoint-dir", str(checkpoints))
        arguments = ("run", str(path), *checkpoint, *options)
        return self.start("headwater", *arguments, environment=environment)

    def start(
        self, module: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> Program:
        """Start a module in a process of its own; it finds the broker in its environment."""
        environment = {
            "HEADWATER_BOOTSTRAP_SERVER": self.servers,
            "HEADWATER_REGISTRY": self.registry,
            **(environment or {}),
        }
        return _started(self.guard, [module, *arguments], environment)


@dataclass
class Program:
    """A process of ours, and what it says; leaving it ends it."""

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

    def end(self) -> None:
        """End it as Ctrl-C would."""
        self.child.stop(signal.SIGINT, _STOPPED_WITHIN_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


@contextmanager
def stage(name: str, *options: str, services: Sequence[str] = ()) -> Iterator[Stage]:
    """Start a platform, on the usual ports if they are free.

    `services` are more than the usual ones; `options` are further ones of `headwater up`.
    """
    with (
        TemporaryFolder(name) as data,
        _stop_requests() as stop,
        Guard(_STOPPED_WITHIN_S) as guard,
    ):
        more = ["--with", ",".join(services)] if services else []
        up = ["headwater", "up", "--data", str(data / "platform"), *more, *options]
        with _platform(guard, up, {"broker", "registry", "console", *services}, stop) as running:
            platform, found = running
            yield Stage(found["broker"], found["registry"], data, stop, guard, found, platform)


@contextmanager
def _platform(
    guard: Guard, up: list[str], wanted: set[str], stop: threading.Event
) -> Iterator[tuple[Program, dict[str, str]]]:
    if all(is_free(port) for port in _USUAL_PORTS):
        with _started(guard, up) as platform:
            found = _addresses(platform, wanted, stop)
            if found is not None:
                yield platform, found
                return
        # Somebody was faster to take one of them.
    with _started(guard, [*up, "--free-ports"]) as platform:
        found = _addresses(platform, wanted, stop)
        if found is None:
            raise click.ClickException(f"the platform did not start:\n{platform.child.last_lines}")
        yield platform, found


def _started(
    guard: Guard, module: list[str], environment: Mapping[str, str] | None = None
) -> Program:
    printed: queue.SimpleQueue[str] = queue.SimpleQueue()

    def hand_over(read: list[str]) -> None:
        for line in read:
            printed.put(line)

    command = [sys.executable, "-m", *module]
    child = ChildProcess(command, guard=guard, on_lines=hand_over, environment=environment)
    return Program(child, printed)


def _addresses(platform: Program, wanted: set[str], stop: threading.Event) -> dict[str, str] | None:
    """Wait for the table of what listens where; None if the platform does not start."""
    found: dict[str, str] = {}
    deadline = time.monotonic() + _READY_WITHIN_S
    while not wanted <= found.keys():
        if stop.wait(0.05):
            raise StoppedError
        if not platform.child.running or time.monotonic() > deadline:
            return None
        for line in platform.said():
            parts = line.split("\t")
            if len(parts) == 3:
                found[parts[0]] = parts[1]
    return found


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
