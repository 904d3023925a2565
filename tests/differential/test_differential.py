"""The same client programs against Apache Kafka and the embedded broker see the same."""

from __future__ import annotations

import fnmatch
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from tests.conftest import unmet
from tests.differential import stored_topics
from tests.differential.apache_kafka_node import Kafka, missing
from tests.differential.embedded import Embedded
from tests.differential.engine import Engine
from tests.differential.kafka_tools import KafkaTools
from tests.differential.known_differences import known_differences
from tests.differential.observation import differences, same_names
from tests.differential.program import load_programs
from tests.differential.random_commands import Command, Executor, sequences
from tests.effort import often
from tests.integration.raw_requests import create_topic

from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAMS = load_programs()

Both = tuple[Engine, Engine]


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
    if name.startswith("tools-") and find_java().javac is None:
        unmet("Kafka's tools are run by a small Java program, which takes a JDK")
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


def test_the_page_of_differences_names_programs_that_exist() -> None:
    named = {pattern for difference in known_differences() for pattern in difference.programs}
    assert named, "the page has no tables any more"
    assert [pattern for pattern in sorted(named) if not fnmatch.filter(PROGRAMS, pattern)] == []


_examples = itertools.count()


@settings(max_examples=often(30, in_soak=300))
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


def test_each_reads_the_files_of_the_other(both: Both, tmp_path: Path) -> None:
    """Stops both, so it comes last; what was there before the restart is there after it."""
    kafka, ours = both
    topics = {engine: stored_topics.write(engine, "stored") for engine in both}
    before = [stored_topics.read(engine, topic) for engine, topic in topics.items()]
    groups = [stored_topics.group_of(engine, topic) for engine, topic in topics.items()]
    assert list(differences(*before)) == []
    adopted = stored_topics.write(kafka, "adopted")
    stored_topics.write(ours, "written-by-us")
    with kafka.raw() as client:
        swapped = create_topic(
            client, "written-by-us", stored_topics.PARTITIONS, stored_topics.SETTINGS
        )
    expected = stored_topics.read(kafka, adopted)

    for engine in both:
        engine.stop()
    stored_topics.copy_partitions(ours.data, kafka.data, "written-by-us", keep_ids=True)
    heir = Embedded(tmp_path / "heir")
    heir.data.mkdir()
    stored_topics.copy_partitions(kafka.data, heir.data, "adopted", keep_ids=False)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda engine: engine.start(), (*both, heir)))
    try:
        assert [stored_topics.read(engine, topic) for engine, topic in topics.items()] == before
        assert [stored_topics.group_of(engine, topic) for engine, topic in topics.items()] == groups
        assert list(differences(before[0], stored_topics.read(kafka, swapped))) == []
        assert list(differences(expected, stored_topics.read(heir, adopted))) == []
    finally:
        heir.stop()
