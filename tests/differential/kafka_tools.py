"""Kafka's own command-line tools, many calls in one JVM."""

from __future__ import annotations

import contextlib
import struct
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

from headwater.cluster.kafka import SMALL_JVM, java_command

SOURCE = Path(__file__).with_name("KafkaTools.java")

CLASSES = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
}


class Printed(NamedTuple):
    """How a tool ended and all that it printed."""

    code: int
    text: str


class KafkaTools:
    """One JVM that runs a tool at a time; started with the first call, with these options."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def run(self, tool: str, *arguments: str, stdin: bytes = b"") -> Printed:
        with self._turn:
            process = self._process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            parts = [_text(CLASSES[tool]), struct.pack(">i", len(arguments))]
            parts += [_text(argument) for argument in arguments]
            process.stdin.write(b"".join(parts) + struct.pack(">i", len(stdin)) + stdin)
            process.stdin.flush()
            code, size = struct.unpack(">ii", process.stdout.read(8))
            return Printed(code, process.stdout.read(size).decode())

    def close(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(struct.pack(">i", -1))
                self._process.stdin.close()
            self._process.wait(60)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            java_command(str(SOURCE), options=(*SMALL_JVM, *self._options)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data
