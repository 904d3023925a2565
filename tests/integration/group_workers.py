"""Starts consumers in processes of their own and waits for what they tell."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration import kafkajs_client
from tests.waiting import HUNG_AFTER_S, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

SESSION_MS = 2_000

Place = tuple[str, int]


class Worker:
    """One consumer; `held` is what it was last assigned, `read` all that it read and committed."""

    def __init__(
        self,
        client: str,
        servers: str,
        group: str,
        topics: Sequence[str],
        *,
        name: str = "worker",
        instance: str | None = None,
        assignor: str | None = None,
        session_ms: int = SESSION_MS,
    ) -> None:
        library, _, protocol = client.partition(":")
        job = {
            "client": library,
            "protocol": protocol or "classic",
            "servers": servers,
            "group": group,
            "topics": list(topics),
            "name": name,
            "instance": instance,
            "assignor": assignor,
            "session_ms": session_ms,
        }
        self.client = client
        self.name = name
        self.held: frozenset[Place] = frozenset()
        self.changes: list[tuple[str, frozenset[Place]]] = []
        self.read: list[tuple[str, int, int]] = []
        self._news = threading.Condition()
        self._errors: list[str] = []
        self._process = subprocess.Popen(
            [*_command(library), json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._threads = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._collect_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def __str__(self) -> str:
        return (
            f"{self.client} {self.name} has {sorted(self.held)}, after {self.changes[-5:]}; "
            f"it read {len(self.read)}\n{''.join(self._errors)[-2000:]}"
        )

    def leave(self) -> None:
        """Let it leave its group, and wait for its end."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(HUNG_AFTER_S)
        self._join()

    def kill(self) -> None:
        """It dies without a word."""
        self._process.kill()
        self._process.wait()
        self._join()

    def until(self, is_true: Callable[[Self], bool], what: str) -> None:
        """Wait until something is so, as far as the worker has told."""
        with self._news:
            if not self._news.wait_for(lambda: is_true(self), HUNG_AFTER_S):
                raise AssertionError(f"not {what} after {HUNG_AFTER_S:.0f} s: {self}")

    def until_holds(self, count: int) -> None:
        self.until(lambda worker: len(worker.held) == count, f"holding {count} partitions")

    def until_read(self, count: int) -> None:
        self.until(lambda worker: len(worker.read) >= count, f"through {count} records")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                told: dict[str, Any] = json.loads(line)
                with self._news:
                    if told["event"] == "read":
                        self.read += [tuple(record) for record in told["records"]]
                    else:
                        self.held = frozenset(
                            (topic, number) for topic, number in told["partitions"]
                        )
                        self.changes.append((told["event"], self.held))
                    self._news.notify_all()

    def _collect_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            self._errors.extend(lines)

    def _join(self) -> None:
        for thread in self._threads:
            thread.join(HUNG_AFTER_S)


def until_shared(workers: Sequence[Worker], partitions: int, each: int = 1) -> None:
    """Wait until the workers hold all partitions, none of them twice, and nobody too few."""

    def is_shared() -> bool:
        held = [place for worker in workers for place in worker.held]
        is_complete = len(held) == len(set(held)) == partitions
        return is_complete and all(len(worker.held) >= each for worker in workers)

    wait_for(is_shared, lambda: _state(workers))


def until_all_read(workers: Sequence[Worker], wanted: Iterable[tuple[str, int, int]]) -> None:
    """Wait until the workers together have read every record that is wanted."""
    missing = set(wanted)

    def is_read() -> bool:
        for worker in workers:
            missing.difference_update(tuple(worker.read))
        return not missing

    wait_for(is_read, lambda: _state(workers))


def _state(workers: Sequence[Worker]) -> str:
    return "\n".join(map(str, workers))


def all_read(workers: Sequence[Worker]) -> Iterator[tuple[str, int, int]]:
    for worker in workers:
        yield from worker.read


def _command(library: str) -> list[str]:
    if library == "kafkajs":
        kafkajs_client.install()
        return ["node", str(kafkajs_client.HERE / "group.js")]
    return [sys.executable, str(Path(__file__).with_name("group_worker.py"))]
