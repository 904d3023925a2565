"""What the proxy's handlers work with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.rest.acknowledged_producer import AcknowledgedProducer
from headwater.rest.cluster import Cluster
from headwater.rest.consumers.instances import ConsumerInstances
from headwater.rest.schema_readers import SchemaReaders
from headwater.rest.schema_writers import SchemaWriters
from headwater.rest.threads import Threads
from headwater.serde import SchemaRegistryClient

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.rest.config import RestConfig

_REGISTRY_THREADS = 8


class RestService:
    """A cluster, a registry, a producer and consumer instances."""

    def __init__(self, config: RestConfig) -> None:
        self.config = config
        self._cluster_id: str | None = None
        self.cluster = Cluster(config.access, config.timeout_s)
        self.registry = SchemaRegistryClient(config.registry_access)
        self.writers = SchemaWriters(self.registry)
        self.readers = SchemaReaders(self.registry)
        self.threads = Threads(_REGISTRY_THREADS, "rest-registry")
        self.consumers = ConsumerInstances(config)
        self.producer = AcknowledgedProducer(
            config.producer_settings(), config.buffer_memory, config.max_block_s
        )

    async def start(self) -> None:
        """Begin to take acknowledgements, and to expire consumers."""
        self.producer.start()
        self.consumers.start()

    async def stop(self) -> None:
        """Let consumers leave their groups, and records arrive that are on their way."""
        await self.consumers.stop()
        await asyncio.to_thread(self.producer.stop)
        self.cluster.stop()
        self.threads.stop()
        self.registry.close()

    async def cluster_id(self) -> str:
        """Return the id of the cluster; raises HttpError where no broker answers."""
        if self._cluster_id is None:
            self._cluster_id = await self.cluster.ask(lambda it: it.describe().cluster_id)
        return self._cluster_id or ""

    def url(self, request: Request, path: str) -> str:
        """Return a link, by the name by which the client has called."""
        base = self.config.advertised_url
        if base is None:
            host = request.headers.get(b"host", b"").decode("latin-1")
            base = f"{self.config.scheme}://{host or f'{self.config.host}:{self.config.port}'}"
        return f"{base}{path}"
