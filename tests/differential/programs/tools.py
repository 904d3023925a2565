"""Kafka's own command-line tools: what they print, line by line."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.differential.program import program
from tests.integration.raw_groups import commit, describe, stable_member
from tests.integration.raw_requests import Topic, create_topic, list_offset, produce
from tests.integration.raw_transactions import RawProducer
from tests.integration.record_batches import CODECS, Message, batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine

WHEN = 1_700_000_000_000


def settled(engine: Engine, *arguments: str, until: str, tool: str = "kafka-topics") -> Any:
    """Run a tool until it prints something: Kafka's metadata take a moment."""

    def said() -> Any:
        printed = engine.tool(tool, *arguments)
        return printed if any(until in line for line in printed[1]) else None

    return wait_for(said)


def in_own_words(printed: Any) -> Any:
    """The same output without the reason that a broker gave for an error, and without the stack.

    Where a tool was called from is this suite's business, and changes as Java warms up.
    """
    code, lines = without(printed, r"(?<=Exception: ).*|(?<=command : ).*|^\S+Z Thread-\d+")
    return [code, [line for line in lines if not line.startswith("\t")]]


def without(printed: Any, pattern: str) -> Any:
    """The same output with what is random taken out."""
    code, lines = printed
    return [code, [re.sub(pattern, "<...>", line) for line in lines]]


def columns(printed: Any) -> Any:
    """A table's cells: the width of its columns depends on the longest random name."""
    code, lines = printed
    return [code, [line.split() for line in lines]]


def filled(engine: Engine, name: str, partitions: int = 1, records: int = 5) -> Topic:
    with engine.raw() as client:
        topic = create_topic(client, name, partitions)
        for partition in range(partitions):
            messages = [Message(b"v%d" % n, b"k%d" % n, WHEN + n) for n in range(records)]
            produce(client, topic, batch_of(messages), partition=partition)
    return topic


@program
def tools_topics(engine: Engine, name: str) -> Any:
    topic = ("--topic", name)
    steps = [
        engine.tool("kafka-topics", "--create", *topic, "--partitions", "2",
                    "--config", "retention.ms=1000"),
        without(settled(engine, "--describe", *topic, until="Partition: 1"), r"TopicId: \S+"),
        engine.tool("kafka-topics", "--create", *topic),
        engine.tool("kafka-topics", "--create", *topic, "--if-not-exists"),
        engine.tool("kafka-topics", "--alter", *topic, "--partitions", "3"),
        without(settled(engine, "--describe", *topic, until="Partition: 2"), r"TopicId: \S+"),
        engine.tool("kafka-topics", "--alter", *topic, "--partitions", "1"),
        settled(engine, "--list", *topic, until=name),
        engine.tool("kafka-topics", "--delete", *topic),
        engine.tool("kafka-topics", "--delete", "--topic", f"{name}-ghost"),
    ]  # fmt: skip
    return [in_own_words(step) for step in steps]


@program
def tools_topics_refusals(engine: Engine, name: str) -> Any:
    refusals = [
        ("--create", "--topic", "not good"),
        ("--create", "--topic", name, "--config", "retention.ms=soon"),
        ("--create", "--topic", name, "--replication-factor", "3"),
        ("--describe", "--topic", f"{name}-ghost"),
        ("--describe", "--topic", f"{name}-ghost", "--if-exists"),
        ("--describe", "--unavailable-partitions"),
        ("--describe", "--under-replicated-partitions"),
    ]
    return [in_own_words(engine.tool("kafka-topics", *one)) for one in refusals]


@program
def tools_configs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    entity = ("--entity-type", "topics", "--entity-name", name)
    steps = [
        engine.tool("kafka-configs", "--alter", *entity, "--add-config",
                    "retention.ms=5000,max.message.bytes=2000"),
        settled(engine, "--describe", *entity, until="retention.ms=5000", tool="kafka-configs"),
        engine.tool("kafka-configs", "--alter", *entity, "--delete-config", "retention.ms"),
        engine.tool("kafka-configs", "--describe", *entity, "--all"),
    ]  # fmt: skip
    return [[code, sorted(lines)] for code, lines in steps]


@program
def tools_configs_of_broker_and_quotas(engine: Engine, name: str) -> Any:
    user = ("--entity-type", "clients", "--entity-name", name)
    broker = ("--entity-type", "brokers", "--entity-name", "1")
    return [
        engine.tool(
            "kafka-configs", "--alter", *user, "--add-config", "producer_byte_rate=1000000"
        ),
        settled(engine, "--describe", *user, until="producer_byte_rate", tool="kafka-configs"),
        engine.tool("kafka-configs", "--alter", *user, "--delete-config", "producer_byte_rate"),
        engine.tool("kafka-configs", "--describe", *broker),
    ]


@program
def tools_console_producer_and_consumer(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    wrote = engine.tool(
        "kafka-console-producer", "--topic", name,
        "--reader-property", "parse.key=true", "--reader-property", "key.separator=:",
        "--compression-codec", "zstd",
        stdin=b"a:one\nb:two\na:three\n",
    )  # fmt: skip
    read = engine.tool(
        "kafka-console-consumer", "--topic", name, "--from-beginning", "--max-messages", "3",
        "--formatter-property", "print.key=true", "--formatter-property", "print.offset=true",
        "--formatter-property", "print.partition=true",
        "--formatter-property", "print.headers=true",
    )  # fmt: skip
    return wrote, read


@program
def tools_console_consumer_from_an_offset(engine: Engine, name: str) -> Any:
    filled(engine, name)
    return engine.tool(
        "kafka-console-consumer", "--topic", name, "--partition", "0", "--offset", "2",
        "--max-messages", "2", "--formatter-property", "print.timestamp=true",
    )  # fmt: skip


@program
def tools_get_offsets(engine: Engine, name: str) -> Any:
    filled(engine, name, partitions=2)
    return [
        engine.tool("kafka-get-offsets", "--topic", name),
        *(
            engine.tool("kafka-get-offsets", "--topic", name, "--time", when)
            for when in ("earliest", "latest", "max-timestamp", str(WHEN + 2), str(WHEN + 99))
        ),
        engine.tool("kafka-get-offsets", "--topic-partitions", f"{name}:1"),
        engine.tool("kafka-get-offsets", "--topic", f"{name}-ghost"),
    ]


@program
def tools_delete_records(engine: Engine, name: str) -> Any:
    filled(engine, name)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
        json.dump({"partitions": [{"topic": name, "partition": 0, "offset": 3}]}, plan)
        plan.flush()
        deleted = engine.tool("kafka-delete-records", "--offset-json-file", plan.name)
    return deleted, engine.tool("kafka-get-offsets", "--topic", name, "--time", "earliest")


@program
def tools_consumer_groups(engine: Engine, name: str) -> Any:
    filled(engine, name, partitions=2)
    group, ghost = ("--group", name), f"{name}-ghost"
    with engine.raw() as client:
        commit(client, name, {(name, 0): 3, (name, 1): 5})
    return [
        columns(engine.tool("kafka-consumer-groups", "--describe", *group)),
        columns(engine.tool("kafka-consumer-groups", "--describe", "--state", *group)),
        columns(engine.tool("kafka-consumer-groups", "--describe", "--members", *group)),
        columns(engine.tool("kafka-consumer-groups", "--reset-offsets", *group, "--all-topics",
                            "--to-earliest", "--dry-run")),
        columns(engine.tool("kafka-consumer-groups", "--reset-offsets", *group, "--topic",
                            f"{name}:0", "--shift-by", "1", "--execute")),
        columns(engine.tool("kafka-consumer-groups", "--describe", "--offsets", *group)),
        columns(engine.tool("kafka-consumer-groups", "--delete-offsets", *group, "--topic", name)),
        engine.tool("kafka-consumer-groups", "--delete", *group),
        engine.tool("kafka-consumer-groups", "--delete", *group),
        in_own_words(engine.tool("kafka-consumer-groups", "--describe", "--group", ghost)),
    ]  # fmt: skip


@program
def tools_consumer_groups_with_members(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stable_member(client, name, session_ms=60_000)
        wait_for(lambda: describe(client, name).group_state == "Stable")
        listed = engine.tool("kafka-consumer-groups", "--list", "--state")
        return [
            columns(engine.tool("kafka-consumer-groups", "--describe", "--state", "--group", name)),
            columns(engine.tool("kafka-consumer-groups", "--describe", "--members", "--group",
                                name)),
            [line.split() for line in listed[1] if name in line],
            engine.tool("kafka-consumer-groups", "--delete", "--group", name),
            [line.split() for line in engine.tool("kafka-groups", "--list")[1] if name in line],
        ]  # fmt: skip


@program
def tools_transactions(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client, name)
        producer.init()
        producer.send(topic, b"open")
        random = r"\b\d{3,}\b|\b" + str(producer.producer_id) + r"\b"

        def table(*arguments: str) -> Any:
            code, lines = without(engine.tool("kafka-transactions", *arguments), random)
            return [code, [line.split() for line in lines]]

        ongoing = table("describe", "--transactional-id", name)
        ongoing[1][1].pop(ongoing[1][0].index("TransactionDurationMs"))
        steps = [
            ongoing,
            table("describe-producers", "--topic", name, "--partition", "0"),
            table("describe", "--transactional-id", f"{name}-ghost"),
            table("abort", "--topic", name, "--partition", "0", "--start-offset", "0"),
            table("describe-producers", "--topic", name, "--partition", "0"),
        ]
        listed = table("list")
        return steps, [line for line in listed[1] if name in line]


@program
def tools_performance(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    numbers = r"\d+(\.\d+)?"
    produced = engine.tools.run(
        "kafka-producer-perf-test", "--topic", name, "--num-records", "2000",
        "--record-size", "100", "--throughput", "-1",
        "--command-property", f"bootstrap.servers={engine.bootstrap_servers}",
    )  # fmt: skip
    consumed = engine.tool("kafka-consumer-perf-test", "--topic", name, "--num-records", "2000",
                           "--group", name)  # fmt: skip
    # How many came through counts; how fast is the benchmarks' business.
    last = consumed[1][-1].split(", ")
    summary = re.sub(numbers, "#", produced.text.splitlines()[-1])
    return [
        produced.code,
        summary if summary.count("#") < 9 else re.sub(numbers, "#", produced.text),
        consumed[0],
        consumed[1][0],
        [last[2], last[4]],
        engine.tool("kafka-get-offsets", "--topic", name),
    ]


@program
def tools_cluster_and_election(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    cluster_id = engine.tools.run(
        "kafka-cluster", "cluster-id", "--bootstrap-server", engine.bootstrap_servers
    )
    return [
        re.sub(r"(?<=Cluster ID: ).*", "<...>", cluster_id.text),
        engine.tool("kafka-leader-election", "--election-type", "preferred", "--topic", name,
                    "--partition", "0"),
    ]  # fmt: skip


@program
def tools_log_dirs(engine: Engine, name: str) -> Any:
    filled(engine, name)
    code, lines = engine.tool("kafka-log-dirs", "--describe", "--topic-list", name)
    found = json.loads(next(line for line in lines if line.startswith("{")))
    for broker in found["brokers"]:
        for directory in broker["logDirs"]:
            directory["logDir"] = Path(directory["logDir"]).name != ""
    return code, found, [line for line in lines if not line.startswith("{")]


@program
def tools_dump_log(engine: Engine, name: str) -> Any:
    """What the dump tool reads in the files that each broker wrote itself."""
    with engine.raw() as client:
        topic = create_topic(client, name)
        for codec in CODECS:
            messages = [
                Message(b"value %d" % n, b"key %d" % n, WHEN + n, [("h", b"x")]) for n in range(3)
            ]
            produce(client, topic, batch_of(messages, codec))
        producer = RawProducer(client, name)
        producer.init()
        producer.send(topic, b"x", version=12)
        producer.end(committed=True)
        wait_for(lambda: list_offset(client, topic, -1).offset == 17)
        segment = engine.data / f"{name}-0" / f"{0:020d}.log"
        printed = engine.tools.run(
            "kafka-dump-log", "--files", str(segment), "--print-data-log", "--deep-iteration"
        )
        random = (
            rf"producerId: {producer.producer_id}\b|CreateTime: 1[89]\d+|crc: \d+"
            rf"|Dumping .*|(?<=payload: )x|LogAppendTime: \d+|coordinatorEpoch: \d+"
        )
        return without([printed.code, printed.text.splitlines()], random)


@program
def tools_dump_indexes(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, configs={"index.interval.bytes": "100"})
        for number in range(20):
            produce(client, topic, batch_of([Message(b"x" * 90, timestamp=WHEN + number)]))
        directory = engine.data / f"{name}-0"
        printed = [
            engine.tools.run("kafka-dump-log", "--files", str(directory / f"{0:020d}{suffix}"))
            for suffix in (".index", ".timeindex")
        ]
        return [without([one.code, one.text.splitlines()], r"Dumping .*") for one in printed]
