"""A broker under comparison, and the clients that programs use on it."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import confluent_kafka
from confluent_kafka.admin import AdminClient
from tests.integration.raw_client import RawClient
from tests.integration.raw_groups import find_coordinator
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.differential.kafka_tools import KafkaTools

WITHIN_S = 120.0


class Engine(ABC):
    """One broker, Apache Kafka's or ours, with the same settings as the other."""

    name: str
    tools: KafkaTools
    port: int
    output: list[str]
    data: Path

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def stop(self) -> None:
        """Stop as an operator would; it can be started again."""

    @abstractmethod
    def close(self) -> None:
        """Stop for good."""

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def raw(self, client_id: str | None = "raw", source: str | None = None) -> RawClient:
        """A connection from an address of the loopback network, by which ACLs can tell it."""
        return RawClient(self, client_id, source=source)

    def tool(self, tool: str, *arguments: str, stdin: bytes = b"") -> Any:
        """Run one of Kafka's tools against this engine: how it ended, and its lines."""
        server = "--bootstrap-server", self.bootstrap_servers
        printed = self.tools.run(tool, *server, *arguments, stdin=stdin)
        return [printed.code, printed.text.splitlines()]

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers})

    def producer(self, **config: Any) -> confluent_kafka.Producer:
        given = {name.replace("_", "."): value for name, value in config.items()}
        return confluent_kafka.Producer(
            {"bootstrap.servers": self.bootstrap_servers, "linger.ms": 5} | given
        )

    @contextlib.contextmanager
    def consumer(self, group: str, **config: Any) -> Iterator[confluent_kafka.Consumer]:
        given = {name.replace("_", "."): value for name, value in config.items()}
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": self.bootstrap_servers,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
            | given
        )
        try:
            yield consumer
        finally:
            consumer.close()

    def make_coordinators(self) -> None:
        """Have both internal topics in place: Apache Kafka makes them on first use."""
        with self.raw() as client:
            find_coordinator(client)
            # Enough names to be looked after by every partition of the groups' topic.
            names = [f"warm-up-{number}" for number in range(20)]
            wait_for(
                lambda: {
                    group.error_code.name
                    for group in client.call("describe_groups", 5, groups=names).groups
                },
                until=lambda codes: codes == {"none"},
            )
        producer = self.producer(transactional_id="warm-up")
        producer.init_transactions(WITHIN_S)
