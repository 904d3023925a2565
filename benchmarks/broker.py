"""The broker's figures: start-up, memory, throughput and latency, next to Apache Kafka's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from confluent_kafka import Producer

from benchmarks import groups, latency, throughput, transactions
from benchmarks.targets import HEADWATER, HEADWATER_OS, Running, Target, running

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.results import Results

Progress = Callable[[str], None]

GOALS = {
    "ready after the command": "300 ms",
    "resident memory, idle": "60 MB",
    "resident memory, after the load": "no growth",
    "produce, 100-byte records, acks=1": "1,200,000/s",
    "produce, 100-byte records, acks=all": "60 % of flush=os",
    "consume, 100-byte records": "1,000,000/s",
    "produce from Python, commit every 100 ms": "80 % of idempotent",
    "end-to-end latency, acks=all, median": "2 ms",
    "end-to-end latency, acks=all, 99 %": "3 ms",
    "end-to-end latency, acks=all, 99.9 %": "14 ms",
    "8 members share 64 partitions, after the last join": "1 s",
    "a killed member's partitions have moved, after its session timeout": "1 s",
    "2,000 members in 200 groups: longest heartbeat or commit": "100 ms",
}


def measure(targets: list[Target], rounds: int, results: Results, progress: Progress) -> None:
    """Measure all targets in turn, several times, so that noise hits each of them alike."""
    with throughput.record_file() as records:
        for number in range(rounds):
            for target in targets:
                progress(f"round {number + 1} of {rounds}: {target.name}")
                with running(target) as broker:
                    _measure_start(target, broker, results)
                    _measure_latency(target, broker, results)
                with running(target) as broker:
                    _measure_throughput(target, broker, records, results)
                    _measure_transactions(target, broker, results)
                if target is not HEADWATER_OS:
                    _measure_groups(target, results)


def _measure_start(target: Target, broker: Running, results: Results) -> None:
    results.add("ready after the command", "ms", target, broker.ready_s * 1000)
    started = time.perf_counter()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
    producer.produce("first", b"record")
    producer.flush()
    first_s = broker.ready_s + time.perf_counter() - started
    results.add("first record acknowledged after the command", "ms", target, first_s * 1000)
    time.sleep(1)
    results.add("resident memory, idle", "MB", target, broker.resident_mb())


def _measure_latency(target: Target, broker: Running, results: Results) -> None:
    found = latency.measure(broker.bootstrap_servers, "latency", "all")
    for name, value in zip(("median", "99 %", "99.9 %"), found, strict=True):
        results.add(f"end-to-end latency, acks=all, {name}", "ms", target, value)


def _measure_throughput(target: Target, broker: Running, records: Path, results: Results) -> None:
    servers, count = broker.bootstrap_servers, throughput.RECORDS
    acks = {HEADWATER: ("all",), HEADWATER_OS: ("1",)}.get(target, ("1", "all"))
    for each in acks:
        rate = throughput.produce(servers, f"load-{each}", records, each, count)
        results.add(f"produce, 100-byte records, acks={each}", "records/s", target, rate)
        if each == acks[0]:
            rate = throughput.consume(servers, f"load-{each}", count)
            results.add("consume, 100-byte records", "records/s", target, rate)
    results.add("resident memory, after the load", "MB", target, broker.resident_mb())


def _measure_transactions(target: Target, broker: Running, results: Results) -> None:
    servers = broker.bootstrap_servers
    rate = transactions.idempotent(servers, "idempotent")
    results.add("produce from Python, idempotent", "records/s", target, rate)
    rate = transactions.transactional(servers, "transactional")
    results.add("produce from Python, commit every 100 ms", "records/s", target, rate)


def _measure_groups(target: Target, results: Results) -> None:
    with running(target) as broker:
        moves = groups.settle_and_recover(broker.bootstrap_servers)
        results.add(
            "8 members share 64 partitions, all starting at once",
            "ms",
            target,
            moves.together * 1000,
        )
        results.add(
            "8 members share 64 partitions, after the last join",
            "ms",
            target,
            moves.last_join * 1000,
        )
        results.add(
            "a killed member's partitions have moved, after its session timeout",
            "ms",
            target,
            moves.recovery * 1000,
        )
    with running(target) as broker:
        beats = groups.beat(broker.port)
        results.add(
            "2,000 members in 200 groups: heartbeat or commit, 99 %", "ms", target, beats.p99
        )
        results.add(
            "2,000 members in 200 groups: longest heartbeat or commit", "ms", target, beats.longest
        )
