"""From which progress in the cluster a query goes on, and what is refused; without Spark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from headwater.plan.splitting.stages import split
from headwater.spark.checkpoints import CheckpointError
from headwater.spark.cluster import Cluster
from headwater.spark.compiler.stages import StageQuery
from headwater.spark.jobs.restoration import Restoration
from headwater.spark.jobs.running_query import RunningQuery
from headwater.spark.progress_topic import PROGRESS_TOPIC
from headwater.streams import App, Processor, PunctuationType, Record
from headwater.testing import Broker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from headwater.streams import KStream

ID = "7f7c1c1e-0000-4000-8000-000000000000"
MARKERS = "_headwater_sink_commits"
TASKS = 2


class ByTheClock(Processor):
    punctuation_type = PunctuationType.WALL_CLOCK_TIME

    def process(self, record: Record) -> None:
        self.context.forward(record.value["n"])


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        broker.create_topic("numbers")
        broker.create_topic(PROGRESS_TOPIC)
        broker.create_topic(MARKERS, partitions=4)
        yield broker


def offsets(end: int, watermark_ms: int = 0) -> str:
    header = json.dumps({"batchWatermarkMs": watermark_ms, "batchTimestampMs": 1, "conf": {}})
    return f'v1\n{header}\n{{"numbers":{{"0":{end}}}}}'


class Restored:
    """A program whose checkpoint is gone, and what was kept of it."""

    def __init__(self, broker: Broker, name: str, path: Path, build: Callable[[KStream], Any]):
        self.servers, self.name, self.path = broker.bootstrap_servers, name, path
        app = App(name, bootstrap_servers=self.servers, guarantee="exactly_once")
        build(app.stream("numbers", value_type="n bigint"))
        self.plan = app.plan()
        (stage,) = split(self.plan)
        query = StageQuery("query", None, "update", stage.sinks[0])  # type: ignore[arg-type]
        self.running = RunningQuery(stage, query)
        self.rebuilt: list[dict[str, str]] = []

    def keep(self, planned: dict[int, str], done: int | None) -> None:
        kept = {
            "version": 1,
            "metadata": json.dumps({"id": ID}),
            "sources": {"0": '\0v1\n{"numbers":{"0":0}}'},
            "offsets": planned,
            "commits": {} if done is None else {done: 'v1\n{"nextBatchWatermarkMs":0}'},
        }
        producer = Producer({"bootstrap.servers": self.servers})
        producer.produce(PROGRESS_TOPIC, json.dumps(kept), f"{self.name}: query")
        assert producer.flush(60) == 0

    def mark(self, batch: int, *tasks: int) -> None:
        """Record what the sink's transactions would have."""
        marked = [
            TopicPartition(MARKERS, task + 1, batch + 1, metadata=f"1 {TASKS} 5 {ID}")
            for task in tasks
        ]
        admin = AdminClient({"bootstrap.servers": self.servers})
        group = ConsumerGroupTopicPartitions(f"{self.name}-query", marked)
        for future in admin.alter_consumer_group_offsets([group]).values():
            future.result(60)

    def restore(self) -> tuple[str, ...]:
        restoration = Restoration(
            self.plan,
            Cluster(self.plan.settings.cluster),
            lambda _name: self.path,
            self._rebuild,
            lambda _line: None,
        )
        return restoration.restore({"query": self.running})

    def files(self) -> dict[str, str]:
        return {
            str(file.relative_to(self.path)): file.read_text("utf-8")
            for file in self.path.rglob("*")
            if file.is_file()
        }

    def _rebuild(self, running: RunningQuery) -> None:
        """Do as Spark does with a batch that is planned."""
        del running
        self.rebuilt.append(self.files())
        batch = len(self.rebuilt) - 1
        commits = self.path / "commits"
        commits.mkdir(exist_ok=True)
        (commits / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":70}')


def copied(numbers: KStream) -> None:
    numbers.to("copies")


def by_the_clock(numbers: KStream) -> None:
    numbers.transform_values(ByTheClock, returns="bigint").to("timed")


def counted(numbers: KStream) -> None:
    numbers.group_by_key().count().to_stream().to("counts")


def test_a_query_without_state_finds_its_checkpoint_as_it_was(
    broker: Broker, tmp_path: Path
) -> None:
    program = Restored(broker, "copies", tmp_path, copied)
    assert program.restore() == ()
    assert program.files() == {}
    program.keep({4: offsets(8), 5: offsets(9)}, done=4)
    # Killed in the middle of batch 5: the sink will write what is missing of it.
    program.mark(5, 0)
    assert program.restore() == ()
    assert program.files() == {
        "metadata": json.dumps({"id": ID}),
        "sources/0/0": '\0v1\n{"numbers":{"0":0}}',
        "offsets/4": offsets(8),
        "offsets/5": offsets(9),
        "commits/4": 'v1\n{"nextBatchWatermarkMs":0}',
    }


@pytest.mark.parametrize(("written", "end"), [(4, 8), (5, 9)], ids=["not written", "all written"])
def test_state_is_computed_again_up_to_the_last_batch_that_is_written(
    broker: Broker, tmp_path: Path, written: int, end: int
) -> None:
    program = Restored(broker, f"counts-{end}", tmp_path, counted)
    program.keep({4: offsets(8, 60), 5: offsets(9, 60)}, done=4)
    program.mark(written, *range(TASKS))
    assert program.restore() == ("query",)
    first, second = program.rebuilt
    # All records before anything is late, then what was final, and then it is as late as it was.
    assert json.loads(first["offsets/0"].splitlines()[2]) == {"numbers": {"0": end}}
    assert json.loads(first["offsets/0"].splitlines()[1])["batchWatermarkMs"] == 0
    assert first["sources/0/0"] == '\0v1\n{"numbers":{"0":0}}'
    assert second["offsets/1"] == offsets(end, 60)
    assert json.loads(program.files()["metadata"])["id"] != ID


def test_what_could_lose_results_or_double_them_is_refused(broker: Broker, tmp_path: Path) -> None:
    partly = Restored(broker, "partly", tmp_path, counted)
    partly.keep({4: offsets(8), 5: offsets(9)}, done=4)
    partly.mark(5, 1)
    with pytest.raises(CheckpointError, match="1 of 2 tasks of batch 5 of query were written"):
        partly.restore()
    timed = Restored(broker, "timed", tmp_path, by_the_clock)
    timed.keep({0: offsets(8)}, done=0)
    with pytest.raises(CheckpointError, match=r"restoration\.py:\d+: .* goes by the clock"):
        timed.restore()
    other = Restored(broker, "other", tmp_path, copied)
    other.keep({0: offsets(8).replace("numbers", "letters")}, done=0)
    with pytest.raises(CheckpointError, match="has read letters, and now reads numbers"):
        other.restore()
    assert partly.files() == {}
