"""What tests with several registries do: find the leader, kill it, and register all the while."""

from __future__ import annotations

import http.client
import json
import random
import threading
from functools import partial
from typing import TYPE_CHECKING

from tests.integration.registry_fixtures import record
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.http_process import Response
    from tests.registry_process import RegistryProcess


def leads(registry: RegistryProcess) -> bool:
    return "headwater_registry_leader 1.0" in registry.request("GET", "/metrics").raw.decode()


def leader_of(*registries: RegistryProcess) -> RegistryProcess:
    """Wait until exactly one leads."""
    (leader,) = wait_for(
        lambda: [each for each in registries if leads(each)],
        lambda: "\n".join(each.text for each in registries),
        until=lambda leading: len(leading) == 1,
    )
    return leader


def see(registry: RegistryProcess, path: str, expected: object) -> None:
    """Wait until an instance has read what another one wrote."""
    wait_for(
        lambda: registry.request("GET", path),
        f"{path} should hold {expected}",
        until=lambda answer: answer.body == expected,
    )


def restart_leader(registries: list[RegistryProcess]) -> None:
    """Kill whoever leads, and start it again."""
    victim = ([each for each in registries if leads(each)] or registries)[0]
    victim.kill()
    victim.start()


class Worker(threading.Thread):
    """Registers one schema after the other, on whatever instance answers, and keeps the answers."""

    def __init__(self, name: str, registries: list[RegistryProcess]) -> None:
        super().__init__(name=name)
        self.registries = registries
        self.stopping = threading.Event()
        self.answered: dict[str, tuple[int, str]] = {}

    def run(self) -> None:
        chance = random.Random(self.name)
        number = 0
        while not self.stopping.is_set():
            subject, schema = f"{self.name}-{number}", record(f"{self.name}{number}", "a")
            registry = chance.choice(self.registries)
            try:
                answer = registry.try_register(subject, schema)
            except (OSError, http.client.HTTPException):
                self.stopping.wait(0.02)  # that one is dead at the moment
                continue
            if answer.status == 200:
                self.answered[subject] = (answer.body["id"], json.dumps(schema))
                number += 1
            else:
                assert answer.status == 500, answer  # and tried again, with the same schema


def run_workers(
    registries: list[RegistryProcess], disturb: Callable[[], None], times: int
) -> dict[str, tuple[int, str]]:
    workers = [Worker(name, registries) for name in ("A", "B", "C")]
    for worker in workers:
        worker.start()
    try:
        for round_ in range(1, times + 1):
            # Each time in the middle of work: somebody got an answer since the last one.
            goal = round_ * 5
            wait_for(partial(_have_answers, workers, goal))
            disturb()
    finally:
        for worker in workers:
            worker.stopping.set()
        for worker in workers:
            worker.join()
    return {subject: found for worker in workers for subject, found in worker.answered.items()}


def _have_answers(workers: list[Worker], goal: int) -> bool:
    assert all(worker.is_alive() for worker in workers)
    return sum(len(worker.answered) for worker in workers) >= goal


def register_in_the_end(registry: RegistryProcess, subject: str, schema: object) -> None:
    """Register a schema as a client does that tries again while there is no leader."""

    def register() -> Response:
        answer = registry.try_register(subject, schema)
        assert answer.status in (200, 500), answer
        return answer

    wait_for(register, until=lambda answer: answer.status == 200)


def check_answered(registry: RegistryProcess, answered: dict[str, tuple[int, str]]) -> None:
    """Everything that was answered is there as it was answered, and ids are unique."""
    by_id: dict[int, str] = {}
    for subject, (id_, schema) in answered.items():
        versions = registry.get(f"/subjects/{subject}/versions")
        assert versions == [1], subject
        found = registry.get(f"/subjects/{subject}/versions/1")
        assert found["id"] == id_, subject
        assert json.loads(found["schema"]) == json.loads(schema)
        assert json.loads(registry.get(f"/schemas/ids/{id_}")["schema"]) == json.loads(schema)
    for each in registry.get("/schemas?deleted=true"):
        assert by_id.setdefault(each["id"], each["schema"]) == each["schema"]
