"""Kills in the middle of registrations: what was answered stays, and no id is given twice."""

from __future__ import annotations

import http.client
import json
import random
import threading
from typing import TYPE_CHECKING

import pytest
from tests.integration.registry_fixtures import record
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.broker_process import BrokerProcess

pytestmark = pytest.mark.chaos

OPTIONS = ("--property", "leader.session.timeout.ms=6000", "--property", "leader.patience.ms=3000")


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


@pytest.fixture
def broker(start_broker: Callable[..., BrokerProcess]) -> BrokerProcess:
    return start_broker()


@pytest.fixture
def registries(broker: BrokerProcess) -> Iterator[list[RegistryProcess]]:
    started = [RegistryProcess(broker.bootstrap_servers, OPTIONS).start() for _ in range(2)]
    yield started
    for process in started:
        if process.running:
            process.kill()


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
            while sum(len(worker.answered) for worker in workers) < goal:
                assert all(worker.is_alive() for worker in workers)
                threading.Event().wait(0.01)
            disturb()
    finally:
        for worker in workers:
            worker.stopping.set()
        for worker in workers:
            worker.join()
    return {subject: found for worker in workers for subject, found in worker.answered.items()}


def check(registry: RegistryProcess, answered: dict[str, tuple[int, str]]) -> None:
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


def test_killing_leaders(registries: list[RegistryProcess]) -> None:
    def kill_the_leader() -> None:
        leading = [
            each
            for each in registries
            if "headwater_registry_leader 1.0" in each.request("GET", "/metrics").raw.decode()
        ]
        victim = (leading or registries)[0]
        victim.kill()
        victim.start()

    answered = run_workers(registries, kill_the_leader, times=4)
    for registry in registries:
        registry.register("last", record("Last"))
        check(registry, answered)
        assert "Traceback" not in registry.text


def test_killing_the_broker(broker: BrokerProcess, registries: list[RegistryProcess]) -> None:
    def kill_the_broker() -> None:
        broker.kill()
        broker.start()

    answered = run_workers(registries, kill_the_broker, times=3)
    fresh = RegistryProcess(broker.bootstrap_servers, OPTIONS).start()
    try:
        fresh.register("last", record("Last"))
        check(fresh, answered)
    finally:
        fresh.stop()
    for registry in registries:
        assert "Traceback" not in registry.text
