"""Random sequences of commands, as data, and an executor that reports what came of each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.differential.observation import picked, plain, values
from tests.differential.programs.configs import DELETE, SET, TOPIC, alter, value_of
from tests.differential.programs.fetch import is_gone
from tests.differential.programs.offsets import delete_before
from tests.differential.programs.transactions import ended, reader, state_of
from tests.integration.raw_groups import commit, committed
from tests.integration.raw_requests import Topic, fetch, list_offset, produce, wait_until_led
from tests.integration.raw_transactions import RawProducer
from tests.integration.record_batches import CODECS, Message, batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    import uuid

    from tests.integration.raw_client import RawClient

Command = tuple[Any, ...]

WHEN = 1_700_000_000_000
NOBODY = "00000000-0000-0000-0000-000000000007"

_topics = st.integers(0, 1)
_partitions = st.integers(0, 2)
_offsets = st.integers(-2, 12)
_producers = st.integers(0, 1)

commands: st.SearchStrategy[Command] = st.one_of(
    st.tuples(st.just("create"), _topics, st.integers(0, 2)),
    st.tuples(st.just("delete"), _topics),
    st.tuples(st.just("produce"), _topics, _partitions, st.integers(1, 4), st.sampled_from(
        sorted(CODECS)), st.integers(0, 50)),
    st.tuples(st.just("fetch"), _topics, _partitions, _offsets),
    st.tuples(st.just("fetch committed"), _topics, _offsets),
    st.tuples(st.just("offset"), _topics, _partitions, st.sampled_from([-3, -2, -1, 0, WHEN + 10,
              WHEN + 40])),
    st.tuples(st.just("delete records"), _topics, _partitions, _offsets),
    st.tuples(st.just("limit size"), _topics, st.sampled_from(["100", "1048588", None, "many"])),
    st.tuples(st.just("commit"), st.integers(0, 1), _topics, _partitions, _offsets),
    st.tuples(st.just("committed"), st.integers(0, 1), _topics),
    st.tuples(st.just("init"), _producers),
    st.tuples(st.just("send"), _producers, _topics, st.integers(1, 3)),
    st.tuples(st.just("commit transaction"), _producers),
    st.tuples(st.just("abort transaction"), _producers),
    st.tuples(st.just("metadata"), _topics),
)  # fmt: skip

sequences = st.lists(commands, min_size=3, max_size=25).map(
    # Without a topic there is little to compare.
    lambda drawn: [("create", 0, 2), ("create", 1, 1), *drawn]
)


class Executor:
    """Runs commands on one engine; names of topics and groups begin with `prefix`."""

    def __init__(self, client: RawClient, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._ids: dict[str, uuid.UUID] = {}
        self._producers = [RawProducer(client, f"{prefix}-producer-{n}") for n in range(2)]

    def run(self, command: Command) -> Any:
        name, *arguments = command
        return getattr(self, f"_{name.replace(' ', '_')}")(*arguments)

    def _topic(self, number: int) -> Topic:
        name = f"{self._prefix}-{number}"
        return Topic(name, self._ids.get(name, NOBODY))  # type: ignore[arg-type]

    def _create(self, number: int, partitions: int) -> Any:
        name = f"{self._prefix}-{number}"
        answer = self._client.call(
            "create_topics",
            7,
            topics=[{"name": name, "num_partitions": partitions, "replication_factor": 1}],
            timeout=30_000,
        )
        (created,) = answer.topics
        if created.error_code.name == "none":
            self._ids[name] = created.topic_id
            topic = self._topic(number)
            for partition in range(partitions):
                wait_until_led(self._client, topic, partition)
        return picked(created, "error_code", "num_partitions", "replication_factor")

    def _delete(self, number: int) -> Any:
        name = f"{self._prefix}-{number}"
        answer = self._client.call("delete_topics", 6, topics=[{"name": name}], timeout=30_000)
        wait_for(lambda: is_gone(self._client, name))
        if self._ids.pop(name, None):
            # Offsets of a topic that is gone go a moment later.
            for group in range(2):
                wait_for(partial(self._has_forgotten, group, name))
        return plain(answer.responses[0].error_code)

    def _produce(self, number: int, partition: int, count: int, codec: str, age: int) -> Any:
        messages = [Message(b"v%d" % n * 20, b"k", WHEN + age + n) for n in range(count)]
        answer = produce(
            self._client, self._topic(number), batch_of(messages, codec), partition=partition
        )
        return picked(answer, "error_code", "base_offset", "log_start_offset")

    def _fetch(self, number: int, partition: int, offset: int) -> Any:
        answer = fetch(self._client, self._topic(number), offset, partition=partition)
        return picked(answer, "error_code", "high_watermark", "log_start_offset"), values(
            answer.records
        )

    def _fetch_committed(self, number: int, offset: int) -> Any:
        return reader(self._client, self._topic(number), offset)

    def _offset(self, number: int, partition: int, when: int) -> Any:
        found = plain(list_offset(self._client, self._topic(number), when, partition=partition))
        # Records of a transaction have the time of day, which is all that is later than these.
        found["timestamp"] = min(found["timestamp"], WHEN + 1000)
        return found

    def _delete_records(self, number: int, partition: int, offset: int) -> Any:
        return delete_before(self._client, f"{self._prefix}-{number}", offset, partition)

    def _limit_size(self, number: int, value: str | None) -> Any:
        name = f"{self._prefix}-{number}"
        operation = DELETE if value is None else SET
        answer = alter(self._client, TOPIC, name, (operation, "max.message.bytes", value))
        if answer[0]["error_code"] == "none":
            wanted = value or "1048588"
            wait_for(lambda: value_of(self._client, TOPIC, name, "max.message.bytes") == wanted)
        return answer[0]["error_code"]

    def _commit(self, group: int, number: int, partition: int, offset: int) -> Any:
        place = (f"{self._prefix}-{number}", partition)
        return plain(commit(self._client, f"{self._prefix}-group-{group}", {place: offset}))

    def _committed(self, group: int, number: int) -> Any:
        topics = {f"{self._prefix}-{number}": (0, 1, 2)}
        return plain(committed(self._client, f"{self._prefix}-group-{group}", topics))

    def _has_forgotten(self, group: int, topic: str) -> bool:
        found = committed(self._client, f"{self._prefix}-group-{group}", None)
        return not isinstance(found, dict) or all(name != topic for name, _ in found)

    def _init(self, number: int) -> Any:
        answer = self._producers[number].init()
        self._settle(number)
        return picked(answer, "error_code", "producer_epoch")

    def _send(self, number: int, topic: int, count: int) -> Any:
        producer = self._producers[number]
        if producer.producer_id < 0:
            self._init(number)
        answer = producer.send(self._topic(topic), *(b"t%d" % n for n in range(count)))
        return picked(answer, "error_code", "base_offset")

    def _commit_transaction(self, number: int) -> Any:
        return self._end(number, committed=True)

    def _abort_transaction(self, number: int) -> Any:
        return self._end(number, committed=False)

    def _end(self, number: int, *, committed: bool) -> Any:
        producer = self._producers[number]
        if producer.producer_id < 0:
            return "never began"
        answer = ended(producer.end(committed=committed))
        self._settle(number)
        return answer

    def _settle(self, number: int) -> None:
        under_way = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
        wait_for(lambda: state_of(self._producers[number]) not in under_way)

    def _metadata(self, number: int) -> Any:
        answer = self._client.call(
            "metadata",
            12,
            topics=[{"name": f"{self._prefix}-{number}"}],
            allow_auto_topic_creation=False,
        )
        return [
            [plain(topic.error_code), len(topic.partitions), topic.is_internal]
            for topic in answer.topics
        ]
