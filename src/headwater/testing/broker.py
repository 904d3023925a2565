"""A broker in this process, for tests: a free port, a temporary directory, gone afterwards."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.broker.broker import Broker as EmbeddedBroker

_START_WITHIN_S = 60


class Broker:
    """The embedded broker in a thread of this process.

        with Broker() as broker:
            broker.create_topic("readings", partitions=3)
            producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

    It listens on a free port of the loopback interface and keeps its data in a temporary
    directory, unless `data_dir` names one, which is then kept. `properties` are broker settings
    under Kafka's names; other than a real broker it does not wait for the disk (`flush=os`),
    since its data does not outlive the test.

    `stop` and `start` can be called again and again: the port and the data stay the same.
    """

    def __init__(
        self, properties: Mapping[str, str] | None = None, *, data_dir: Path | None = None
    ) -> None:
        self.port = 0
        self._properties = {"flush": "os", **(properties or {})}
        self._temporary: TemporaryFolder | None = None
        if data_dir is None:
            self._temporary = TemporaryFolder("broker")
            data_dir = self._temporary.path
        self.data_dir = data_dir
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def bootstrap_servers(self) -> str:
        """What a client needs as `bootstrap.servers`."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._temporary is not None:
            self._temporary.close()

    def start(self) -> Self:
        """Start the broker and return when it listens."""
        if self._thread is not None:
            raise RuntimeError(f"the broker on port {self.port} is running already")
        from headwater.broker.event_loop import new_event_loop

        ready: Future[int] = Future()
        self._loop = new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(
            target=self._run, args=(ready,), name="headwater-broker", daemon=True
        )
        self._thread.start()
        try:
            self.port = ready.result(_START_WITHIN_S)
        except BaseException:
            self.stop()  # it may have come up after all, too late
            raise
        return self

    def stop(self) -> None:
        """Stop the broker as SIGTERM would; it can be started again."""
        if self._thread is None:
            return
        assert self._loop is not None
        assert self._stop is not None
        with suppress(RuntimeError):  # the loop is closed: it has ended by itself
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = None

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic and return when it is there; raises confluent-kafka's KafkaException."""
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        topic = NewTopic(name, partitions, replication_factor=1, config=dict(config or {}))
        admin.create_topics([topic])[name].result()

    def _run(self, ready: Future[int]) -> None:
        assert self._loop is not None
        loop = self._loop
        try:
            loop.run_until_complete(self._serve(ready))
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()

    async def _serve(self, ready: Future[int]) -> None:
        assert self._stop is not None
        try:
            broker = self._new_broker()
            await broker.start()
        except BaseException as error:
            # The thread that called start() raises it.
            ready.set_exception(error)
            return
        ready.set_result(broker.listeners[0].address[1])
        await self._stop.wait()
        await broker.stop()

    def _new_broker(self) -> EmbeddedBroker:
        from headwater.broker.broker import Broker as EmbeddedBroker
        from headwater.broker.config import BrokerConfig

        listeners = {"listeners": f"PLAINTEXT://127.0.0.1:{self.port}"}
        data = {"log.dirs": str(self.data_dir)}
        return EmbeddedBroker(BrokerConfig({**listeners, **data, **self._properties}))
