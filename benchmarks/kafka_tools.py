"""Kafka's own performance tools, in Java, against both brokers in turn with the same settings."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from contextlib import ExitStack
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks import apache_kafka
from benchmarks.results import Results
from benchmarks.targets import ONE_FLUSH, running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.targets import Running, Target

SECTION = "tools"

# Enough for some seconds each, of which the first part warms up the Java client.
RECORDS = {10: 4_000_000, 100: 3_000_000, 1_000: 300_000, 10_000: 30_000}
WARM_UP = 0.25
CODECS = ("none", "lz4")
ACKS = ("1", "all")
PARTITIONS = (1, 16)
LATENCY_RECORDS = 5_000
# Rows whose goal is above 1: there it matters how much of the machine the tool leaves to a broker.
CPU_BYTES = 100

_NO_TOPIC = str.maketrans(" ,=", "---")
_PRODUCED = re.compile(r"records sent, ([\d.]+) records/sec")


class Load(NamedTuple):
    """What one call of the producer tool sends."""

    record_bytes: int
    codec: str
    acks: str
    partitions: int

    @property
    def row(self) -> str:
        parts = f"{self.partitions} partition" + ("s" if self.partitions > 1 else "")
        return f"{self.record_bytes:,} bytes, {self.codec}, acks={self.acks}, {parts}"


LOADS = [Load(*each) for each in product(RECORDS, CODECS, ACKS, PARTITIONS)]
# A JVM gets fast with use: without these the first rows would be unfair to Kafka.
WARM_UP_LOADS = [Load(100, "none", "1", 16), Load(100, "lz4", "all", 1)]


def _produced(load: Load) -> str:
    return f"producer tool: {load.row}"


def _consumed(load: Load) -> str:
    return f"consumer tool: {load.row.replace(f' acks={load.acks},', '')}"


def _latency(acks: str, figure: str) -> str:
    return f"latency tool, acks={acks}: {figure}"


GOALS = {
    **{_produced(load): "1.3x" if load.record_bytes == 100 else "1.0x" for load in LOADS},
    **{_consumed(load): "1.3x" if load.record_bytes == 100 else "1.0x" for load in LOADS},
    **{_latency(acks, figure): "1.0x" for acks in ACKS for figure in ("mean", "99 %", "99.9 %")},
}


def measure(
    targets: Sequence[Target],
    rounds: int,
    results: Results,
    say: Callable[[str], None],
    wanted: Sequence[str] = ("",),
) -> None:
    """Measure every row with a `wanted` text on each broker in turn, as often as there are rounds.

    All brokers stay up through a round, so that what stands side by side was measured within
    seconds and on brokers that are warm; the idle ones take next to nothing.
    """
    loads = [load for load in LOADS if _is_wanted(_produced(load), wanted)]
    for round_number in range(1, rounds + 1):
        with ExitStack() as stack:
            brokers = {target: stack.enter_context(running(target)) for target in targets}
            say(f"Kafka's tools, round {round_number} of {rounds}: warming up")
            for target, load in product(targets, WARM_UP_LOADS):
                _measure_load(brokers[target], target, load, Results())
            for number, load in enumerate(loads, start=1):
                say(f"Kafka's tools, round {round_number} of {rounds}, {number}: {load.row}")
                for target in _turns(targets, round_number + number):
                    if target is ONE_FLUSH and load.acks != "all":
                        continue
                    _measure_load(brokers[target], target, load, results)
                    say(f"  {target.name}: {_last(results, _produced(load), target)}")
            for acks in ACKS:
                if not _is_wanted(_latency(acks, ""), wanted):
                    continue
                say(f"Kafka's tools, round {round_number} of {rounds}: latency with acks={acks}")
                keeping = [target for target in targets if target.keeps_records]
                for target in _turns(keeping, round_number):
                    _measure_latency(brokers[target], target, acks, results)
                    say(f"  {target.name}: {_last(results, _latency(acks, '99 %'), target)}")


def _is_wanted(row: str, wanted: Sequence[str]) -> bool:
    return any(text in row for text in wanted)


def _last(results: Results, row: str, target: Target) -> str:
    """Return the newest figure of a row, to be told before all are there."""
    for (name, unit), by_column in results.samples.items():
        if name == row and target.name in by_column:
            return f"{by_column[target.name][-1]:,.1f} {unit}"
    return "nothing"


def _turns(targets: Sequence[Target], first: int) -> list[Target]:
    """Return the targets with another one in front each time, since the first has it colder."""
    start = first % len(targets)
    return [*targets[start:], *targets[:start]]


def _measure_load(broker: Running, target: Target, load: Load, results: Results) -> None:
    servers, topic = broker.bootstrap_servers, f"load-{load.row.translate(_NO_TOPIC)}"
    create(servers, topic, load.partitions)
    # What the broker before has left in the page cache is written now, and not in our time.
    os.sync()
    broker_s, tool_s = broker.cpu_s(), _tools_cpu_s()
    rate = produce(servers, topic, load)
    results.add(_produced(load), "records/s", target, rate)
    if load.record_bytes == CPU_BYTES:
        millions = RECORDS[load.record_bytes] / 1e6
        for who, spent in (
            ("broker", broker.cpu_s() - broker_s),
            ("tool", _tools_cpu_s() - tool_s),
        ):
            row = f"CPU of the {who} for a million records: {load.row}"
            results.add(row, "ms", target, 1000 * spent / millions)
    # What acks the records were written with makes no difference to who reads them.
    if load.acks == ACKS[0] and target.keeps_records:
        rate = consume(servers, topic, RECORDS[load.record_bytes])
        results.add(_consumed(load), "records/s", target, rate)
    # By a name of its own: a client that is collected takes its requests along.
    admin = AdminClient({"bootstrap.servers": servers})
    admin.delete_topics([topic])[topic].result()


def _measure_latency(broker: Running, target: Target, acks: str, results: Results) -> None:
    topic = f"latency-{acks}"
    create(broker.bootstrap_servers, topic, 1)
    for figure, value in latency(broker.bootstrap_servers, topic, acks).items():
        results.add(_latency(acks, figure), "ms", target, value)


def _tools_cpu_s() -> float:
    """Return the CPU seconds of all tools that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def create(servers: str, topic: str, partitions: int) -> None:
    """Create a topic."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()


def produce(servers: str, topic: str, load: Load) -> float:
    """Return the records per second that kafka-producer-perf-test counts once it is warm."""
    count = RECORDS[load.record_bytes]
    printed = _tool(
        "ProducerPerformance",
        *("--bootstrap-server", servers, "--topic", topic, "--throughput", "-1"),
        *("--num-records", str(count), "--record-size", str(load.record_bytes)),
        *("--warmup-records", str(int(count * WARM_UP))),
        *("--command-property", f"acks={load.acks}", f"compression.type={load.codec}"),
    )
    return float(_PRODUCED.findall(printed)[-1])


def consume(servers: str, topic: str, count: int) -> float:
    """Return the records per second that kafka-consumer-perf-test fetched."""
    printed = _tool(
        "ConsumerPerformance",
        *("--bootstrap-server", servers, "--topic", topic, "--num-records", str(count)),
        *("--hide-header", "--timeout", "60000"),
    )
    # start, end, MB, MB/s, records, records/s, rebalance ms, fetch ms, fetch MB/s, fetch records/s
    return float(printed.strip().splitlines()[-1].split(",")[9])


def latency(servers: str, topic: str, acks: str) -> dict[str, float]:
    """Return what kafka-e2e-latency measured, in milliseconds."""
    printed = _tool("EndToEndLatency", servers, topic, str(LATENCY_RECORDS), acks, "100")
    average = re.search(r"Avg latency: ([\d.]+)", printed)
    percentiles = re.search(r"50th = (\d+), 99th = (\d+), 99.9th = (\d+)", printed)
    if average is None or percentiles is None:
        raise RuntimeError(f"the latency tool printed something else:\n{printed}")
    found = {"mean": float(average[1])}
    for name, value in zip(("99 %", "99.9 %"), percentiles.groups()[1:], strict=True):
        found[name] = float(value)
    return found


def _tool(name: str, *arguments: str) -> str:
    command = apache_kafka.java(f"org.apache.kafka.tools.{name}", *arguments)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
