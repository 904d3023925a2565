"""The same topologies on Kafka Streams and as programs of ours give the same results.

Each key is an example of its own: Kafka Streams gets a driver for each, so that stream time is the
key's, and ours gets all of them in one batch. What differs on purpose is in docs/semantics.md.
"""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.conftest import unmet
from tests.differential.kafka_streams import Given, KafkaStreams
from tests.differential.streams_programs import (
    IMPATIENT_GRACE,
    KINDS,
    batch_by_batch,
    everywhere,
    held_back,
    pairs,
    processors,
    record_by_record,
    references,
    tables_as_they_stand,
    two_streams,
    when_closed,
)
from tests.differential.unmatched import met, passed_within, take_back_early, without
from tests.spark_session import one_partition, spark

from headwater.java.runtime import find_java
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from headwater.streams import App

__all__ = ["one_partition", "spark"]

pytestmark = pytest.mark.usefixtures("one_partition")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EXAMPLES = 80
# The first of all records is of the epoch itself.
START = 12
END = "end"
NO_KEY = "-"
TOPICS = ("results", "windows", "tables")

Example = list[Given]
Results = dict[str, list[tuple[str | None, int]]]
"""Values and times by example."""


@pytest.fixture(scope="module")
def judge() -> Iterator[KafkaStreams]:
    if find_java().javac is None:
        unmet("Kafka Streams is run by a small Java program, which takes a JDK")
    kafka_streams = KafkaStreams()
    yield kafka_streams
    kafka_streams.close()


class Program:
    """A program of ours, run once over the examples of several tests.

    The first letter of a key says of which.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._examples: dict[str, list[Example]] = {}
        self._found: dict[str, Results] = {}

    def add(self, name: str, examples: list[Example]) -> None:
        """Add the examples of a test; those without a key can be of one test only."""
        self._examples[name] = [
            [given._replace(key=given.key and f"{name}{given.key[1:]}") for given in example]
            for example in examples
        ]

    def examples(self, name: str) -> list[Example]:
        return self._examples[name]

    def run(self, spark: SparkSession) -> None:
        examples = [each for of_one in self._examples.values() for each in of_one]
        self._found = _run(spark, self._app, examples, TOPICS)

    def results(self, name: str, operator: str) -> Results:
        """Return what an operator made of a test's examples, and of those without a key."""
        return {
            key: records
            for key, records in self._found[operator].items()
            if key.startswith((name, NO_KEY))
        }


@pytest.fixture(scope="module")
def by_record(spark: SparkSession, one_partition: None) -> Program:
    program = Program(record_by_record())
    program.add("c", [_only(each, "a") for each in _examples(1, without_key=True)])
    # Records without a key have no place in a window: those of the others show it.
    late = _examples(2, without_key=False)
    program.add("l", [_only(_with_values(each), "a") for each in late])
    moving = _examples(6, without_key=False)
    program.add("m", [_of_three_keys(each) for each in moving])
    program.run(spark)
    return program


@pytest.fixture(scope="module")
def by_batch(spark: SparkSession, one_partition: None) -> Program:
    program = Program(batch_by_batch())
    program.add("v", [_with_values(each) for each in _examples(3, without_key=True)])
    program.add("d", _examples(4, without_key=False))
    program.run(spark)
    return program


def test_every_change(by_record: Program, judge: KafkaStreams) -> None:
    for name in ("stateless", "flat", "count", "aggregate", "reduce", "table-filter"):
        theirs = _judged(judge, name, by_record.examples("c"))
        assert by_record.results("c", name) == theirs, name


def test_streams_in_one_aggregate(spark: SparkSession, judge: KafkaStreams) -> None:
    examples = [_with_values(each) for each in _examples(8, without_key=True)]
    ours = _run(spark, two_streams(), examples, TOPICS)
    for name in ("cogroup", "windowed-cogroup"):
        theirs = _judged(judge, name, [_in_order(each, "ab") for each in examples])
        assert ours[name] == theirs, name


def test_processors_that_share_a_store(spark: SparkSession, judge: KafkaStreams) -> None:
    examples = _examples(12, without_key=False)[:30]
    ours = _run(spark, processors(), examples, TOPICS)
    theirs = _judged(judge, "processors", [_in_order(each, "ab") for each in examples])
    assert ours["processors"] == theirs
    assert ours["filled"] == theirs


def test_tables_as_they_stand(spark: SparkSession, judge: KafkaStreams) -> None:
    examples = _examples(11, without_key=True)
    arrived = [_in_order(each, "ab") for each in examples]
    ours = _run(spark, tables_as_they_stand(), examples, TOPICS)
    # What the join skips has no place in the order here, and holds up what is behind it there.
    taken = [
        [each for each in one if each.topic == "b" or each.value is not None] for one in examples
    ]
    for name in ("stream-table-inner", "stream-table-left"):
        theirs = _judged(judge, name, [_in_order(each, "ab") for each in taken])
        assert ours[name] == theirs, name
    for name in ("table-table-outer", "filtered-inner", "filtered-left"):
        theirs = _judged(judge, name, arrived)
        needed = {key: _without_needless_tombstones(each) for key, each in theirs.items()}
        assert ours[name] == {key: each for key, each in needed.items() if each}, name
    loaded = [_only(each, "b") + _only(each, "a") for each in examples]
    ours = _run(spark, everywhere(), examples, TOPICS)
    for name in ("global-inner", "global-left"):
        assert ours[name] == _judged(judge, name, loaded), name


def test_rows_that_move_between_groups(by_record: Program, judge: KafkaStreams) -> None:
    for name in ("table-count", "table-reduce", "table-aggregate"):
        theirs = _judged(judge, name, by_record.examples("m"))
        assert by_record.results("m", name) == theirs, name


def test_rows_that_refer_to_others(spark: SparkSession, judge: KafkaStreams) -> None:
    examples = [_referring(each) for each in _examples(9, without_key=False)]
    ours = _run(spark, references(), examples, TOPICS)
    for name in ("foreign-key-inner", "foreign-key-left"):
        theirs = _judged(judge, name, examples)
        needed = {key: _without_needless_tombstones(each) for key, each in theirs.items()}
        assert ours[name] == {key: each for key, each in needed.items() if each}, name


def test_updates_that_wait(spark: SparkSession, judge: KafkaStreams) -> None:
    """The buffer is one for all keys: they are one example, in which no two times are the same."""
    choice = random.Random(10)
    times = sorted(range(400), key=lambda time: time + choice.uniform(0, 6))
    example = [
        Given("a", f"w{choice.randrange(12):03}", choice.choice((None, 1, 2, 3)), START + time // 2)
        for time in times
        if time % 2
    ]
    ours = _run(spark, held_back(), [example], TOPICS)
    for name in ("held-back", "held-back-all"):
        assert ours[name] == _judged(judge, name, [example]), name


def test_late_records(by_record: Program, judge: KafkaStreams) -> None:
    for name in ("tumbling", "hopping"):
        theirs = _judged(judge, name, by_record.examples("l"))
        assert sum(map(len, theirs.values())) < EXAMPLES * 12 * (1 if name == "tumbling" else 3)
        assert by_record.results("l", name) == theirs, name
    examples = by_record.examples("l")
    for name in ("sliding", "hopping-folded"):
        assert by_record.results("l", name) == _judged(judge, name, examples), name
    for name in ("session", "session-folded"):
        theirs = _judged(judge, name, examples)
        gone = sum((value or "").endswith("=null") for each in theirs.values() for value, _ in each)
        assert gone > EXAMPLES, "sessions have become parts of others"
        assert by_record.results("l", name) == {
            key: _without_repeats(each) for key, each in theirs.items()
        }, name


def test_last_results_of_windows(spark: SparkSession, judge: KafkaStreams) -> None:
    examples = [_only(_with_values(each), "a") for each in _examples(7, without_key=True)]
    end = [Given("a", END, 0, 10_000)]
    ours = _run(spark, when_closed(), examples, TOPICS, end)
    for name in ("suppressed", "hopping-suppressed", "session-suppressed", "sliding-suppressed"):
        theirs = _judged(judge, name, [[*each, *end] for each in examples])
        assert ours[name] == theirs, name


def test_last_values(by_batch: Program, judge: KafkaStreams) -> None:
    for name in ("count", "tumbling-patient", "hopping-patient"):
        theirs = _judged(judge, name, [_only(each, "a") for each in by_batch.examples("v")])
        assert _last(by_batch.results("v", name)) == _last(theirs), name
    for name in ("session", "sliding"):
        theirs = _judged(judge, name, [_only(each, "a") for each in by_batch.examples("v")])
        mine, judged = (_last(each) for each in (by_batch.results("v", name), theirs))
        assert _open(mine) == _open(judged), name
    for name in (f"table-table-{kind}" for kind in KINDS):
        theirs = _judged(judge, name, [_in_order(each, "ab") for each in by_batch.examples("d")])
        assert _there(by_batch.results("d", name)) == _there(theirs), name


def test_pairs_of_streams(spark: SparkSession, judge: KafkaStreams) -> None:
    """Kafka Streams writes some without a partner too early: all else is the same, one by one."""
    examples = [_with_values(each) for each in _examples(5, without_key=True)]
    end = [Given(topic, END, 0, 10_000) for topic in ("a", "b")]
    ours = _run(spark, pairs(), examples, TOPICS, end)
    arrived = [_in_order(each, "ab") for each in examples]
    graces = {"stream-stream": 1000, "impatient": IMPATIENT_GRACE, "at-once": 0}
    for kind in KINDS:
        for name, grace in graces.items():
            theirs = _judged(judge, f"{name}-{kind}", [[*each, *end] for each in arrived])
            early = {given for each in arrived for given in passed_within(each, grace, kind)}
            assert bool(early) == (kind != "inner" and grace > 0)
            found = ours[f"{name}-{kind}"]
            mine, judged = without(found, early), without(theirs, early)
            if name == "impatient":
                # Who met nobody may come a record later there, or not at all: among those that
                # wait it looks at the one that it saw last, not at the oldest.
                mine, judged = met(mine), met(judged)
            assert mine == judged, f"{name}-{kind}"
            if name == "stream-stream":
                for topic in {"inner": "", "left": "a", "outer": "ab"}[kind]:
                    take_back_early(theirs, arrived, topic)
                assert _any_order(found) == _any_order(theirs), f"{name}-{kind}"


def test_kafka_streams_does_not_wait_for_the_partners_of_late_records(judge: KafkaStreams) -> None:
    """Against its own documentation; where this fails, docs/semantics.md is to be mended."""
    records = [Given("a", "k", 1, 20), Given("a", "k", 2, 10), Given("b", "k", 3, 11)]
    assert _judged(judge, "stream-stream-left", [records])["k"] == [("2|null", 10), ("2|3", 11)]


def test_kafka_streams_counts_null_values_in_windows(judge: KafkaStreams) -> None:
    """Against its own documentation; where this fails, docs/semantics.md is to be mended."""
    records = [Given("a", "k", value, time) for time, value in enumerate((1, None, 2))]
    assert len(_judged(judge, "tumbling", [records])["k"]) == 3
    assert len(_judged(judge, "count", [records])["k"]) == 2


def _examples(seed: int, *, without_key: bool) -> list[Example]:
    """Return examples of one key each, and if wanted a last one without a key."""
    choice = random.Random(seed)
    keys: list[str | None] = [f"e{number:03}" for number in range(EXAMPLES)]
    return [_example(choice, key) for key in (*keys, *([None] if without_key else []))]


def _example(choice: random.Random, key: str | None) -> Example:
    """Return records out of order; no two of different topics have the same time."""
    found = []
    for number in range(24):
        topic = choice.randrange(2)
        at = (number + choice.randrange(-6, 7)) * 2 + topic
        value = None if choice.random() < 0.25 else choice.randint(0, 9)
        found.append(Given("ab"[topic], key, value, START + at))
    return found


def _of_three_keys(example: Example) -> Example:
    return [
        given._replace(key=f"{given.key}{number % 3}")
        for number, given in enumerate(_only(example, "a"))
    ]


def _referring(example: Example) -> Example:
    """Take topic a as rows of three keys that refer to rows of three keys in topic b, in order."""
    return [
        given._replace(key=f"{given.key}{'-' if given.topic == 'b' else ''}{number % 3}")
        for number, given in enumerate(sorted(example, key=lambda each: each.time))
    ]


def _without_needless_tombstones(
    results: list[tuple[str | None, int]],
) -> list[tuple[str | None, int]]:
    """Leave out tombstones of what was not there."""
    before = [None, *(value for value, _ in results)]
    return [
        each for each, old in zip(results, before, strict=False) if (each[0], old) != (None, None)
    ]


def _only(example: Example, topic: str) -> Example:
    return [given for given in example if given.topic == topic]


def _with_values(example: Example) -> Example:
    return [given for given in example if given.value is not None]


def _in_order(example: Example, topics: str) -> Example:
    """Take topics as queues; the one whose next record is older comes next, at a tie the first."""
    queues = [_only(example, topic) for topic in topics]
    found = []
    while waiting := [queue for queue in queues if queue]:
        found.append(min(waiting, key=lambda queue: queue[0].time).pop(0))
    return found


def _run(
    spark: SparkSession,
    app: App,
    examples: Sequence[Example],
    topics: Iterable[str],
    end: Iterable[Given] = (),
) -> dict[str, Results]:
    """Return what the program makes of the examples, by operator."""
    found: dict[str, Results] = defaultdict(lambda: defaultdict(list))
    with TopologyDriver(app, spark) as driver:
        for batch in ([given for example in examples for given in example], end):
            for given in batch:
                value = None if given.value is None else {"n": given.value}
                at = EPOCH + timedelta(seconds=given.time)
                driver.pipe(given.topic, given.key, value, timestamp=at)
            for record in (each for topic in topics for each in driver.read(topic)):
                name, key = record.key.split("/")
                second = round((record.timestamp - EPOCH).total_seconds())
                if key != END:
                    found[name][key].append((record.value, second))
    return found


def _judged(judge: KafkaStreams, name: str, examples: Sequence[Example]) -> Results:
    found: Results = defaultdict(list)
    for came in (each for example in judge.run(name, examples) for each in example):
        if came.key != END:
            found[NO_KEY if came.key is None else came.key].append((came.value, came.time))
    assert found, f"{name}: the examples show nothing"
    return found


def _last(results: Results) -> dict[tuple[str, str], tuple[str | None, int]]:
    """Return the last result of each key, and of each window of it."""
    return {
        (key, (value or "").rpartition("=")[0]): (value, time)
        for key, records in results.items()
        for value, time in records
    }


def _open(
    last: dict[tuple[str, str], tuple[str | None, int]],
) -> dict[tuple[str, str], tuple[str | None, int]]:
    """Return the windows that are there in the end: sessions may have become parts of others."""
    return {of: each for of, each in last.items() if not (each[0] or "").endswith("=null")}


def _without_repeats(results: list[tuple[str | None, int]]) -> list[tuple[str | None, int]]:
    """Leave out that a session is gone where it comes back at once."""
    following = [*results[1:], (None, 0)]
    return [
        (value, time)
        for (value, time), (after, _) in zip(results, following, strict=True)
        if not (value or "").endswith("=null")
        or (value or "").partition("=")[0] != (after or "").partition("=")[0]
    ]


def _there(results: Results) -> Results:
    """Return the last row of each key that was not deleted."""
    return {key: records[-1:] for key, records in results.items() if records[-1][0] is not None}


def _any_order(results: Results) -> Results:
    return {key: sorted(records, key=str) for key, records in results.items()}
