"""Kills in the middle of registrations: what was answered stays, and no id is given twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.registry_fixtures import record
from tests.registry_process import RegistryProcess
from tests.registry_workers import check_answered, register_in_the_end, restart_leader, run_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.broker_process import BrokerProcess

pytestmark = pytest.mark.chaos

OPTIONS = ("--property", "leader.session.timeout.ms=6000", "--property", "leader.patience.ms=3000")


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


def test_killing_leaders(registries: list[RegistryProcess]) -> None:
    answered = run_workers(registries, lambda: restart_leader(registries), times=2)
    for registry in registries:
        register_in_the_end(registry, "last", record("Last"))
        check_answered(registry, answered)
        assert "Traceback" not in registry.text


def test_killing_the_broker(broker: BrokerProcess, registries: list[RegistryProcess]) -> None:
    def kill_the_broker() -> None:
        broker.kill()
        broker.start()

    answered = run_workers(registries, kill_the_broker, times=2)
    fresh = RegistryProcess(broker.bootstrap_servers, OPTIONS).start()
    try:
        register_in_the_end(fresh, "last", record("Last"))
        check_answered(fresh, answered)
    finally:
        fresh.stop()
    for registry in registries:
        assert "Traceback" not in registry.text
