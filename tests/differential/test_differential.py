"""The same client programs against Apache Kafka and the embedded broker see the same."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from tests.conftest import unmet
from tests.differential.embedded import Embedded
from tests.differential.apache_kafka_node import Kafka, missing
from tests.differential.kafka_tools import KafkaTools
from tests.differential.known_differences import known_differences
from tests.differential.observation import differences, same_names
from tests.differential.program import load_programs
from tests.differential.random_commands import Command, Executor, sequences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.differential.engine import Engine

PROGRAMS = load_programs()

Both = tuple["Engine", "Engine"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    if lacking := missing():
        unmet(lacking)
    directory = tmp_path_factory.mktemp("engines")
    kafka, ours = Kafka(directory / "kafka"), Embedded(directory / "headwater")
    tools = kafka.tools = ours.tools = KafkaTools()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(_bring_up, (kafka, ours)))
    yield kafka, ours
    tools.close()
    for engine in (kafka, ours):
        engine.close()


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_see_the_same(both: Both, name: str) -> None:
    kafka, ours = run_on_both(both, name)

    unexplained = []
    shown = set()
    for path, theirs, mine in differences(kafka, ours):
        covering = [d for d in known_differences() if d.covers(name, path, theirs)]
        shown.update(covering)
        if not covering:
            unexplained.append(f"{path}: Kafka {theirs!r}, we {mine!r}")
    assert not unexplained, "\n".join(unexplained)
    for difference in known_differences():
        if name in difference.programs:
            assert difference in shown, f"{difference.paths} no longer differs: drop it"


def run_on_both(both: Both, name: str) -> tuple[Any, Any]:
    def run(engine: Engine) -> Any:
        try:
            return same_names(PROGRAMS[name](engine, name), engine)
        except BaseException as error:
            error.add_note(f"on {engine.name}")
            raise

    with ThreadPoolExecutor(2) as pool:
        kafka, ours = pool.map(run, both)
    return kafka, ours


def _bring_up(engine: Engine) -> None:
    engine.start()
    engine.make_coordinators()


_examples = itertools.count()


@settings(max_examples=60)
@given(sequence=sequences)
def test_random_sequences_of_commands_see_the_same(both: Both, sequence: list[Command]) -> None:
    prefix = f"random-{next(_examples)}"

    def run(engine: Engine) -> list[Any]:
        with engine.raw() as client:
            executor = Executor(client, prefix)
            return [same_names([command, executor.run(command)], engine) for command in sequence]

    with ThreadPoolExecutor(2) as pool:
        kafka, ours = pool.map(run, both)
    assert list(differences(kafka, ours)) == []
