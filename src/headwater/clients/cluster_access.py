"""How to get to a Kafka cluster: its brokers, and what lets a client in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.clients.settings import to_java, to_librdkafka

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients.bearer_token import TokenSource

DEFAULT_SERVERS = "localhost:9092"

# librdkafka's own default is another hash of the key, CRC32. Null keys are spread, as Java does.
JAVAS_PARTITIONER = {"partitioner": "murmur2_random"}
"""With it, a producer of confluent-kafka puts keys where Java's clients put them."""
_ADDRESSES = ("bootstrap.servers", "metadata.broker.list")


@dataclass(frozen=True)
class ClusterAccess:
    """A cluster's brokers, and client settings in Java's words or in librdkafka's.

    >>> access = ClusterAccess("kafka:9093", {"sasl.mechanism": "PLAIN", "linger.ms": "5"})
    >>> access.librdkafka()["bootstrap.servers"], access.java()["sasl.mechanism"]
    ('kafka:9093', 'PLAIN')

    It can be pickled, so that another process can be given it.
    """

    bootstrap_servers: str = DEFAULT_SERVERS
    properties: Mapping[str, str] = field(default_factory=dict)
    tokens: TokenSource | None = None
    """Whose tokens to log in with by OAUTHBEARER, for librdkafka's clients."""

    @classmethod
    def of(
        cls, properties: Mapping[str, str], bootstrap_servers: str | None = None
    ) -> ClusterAccess:
        """Take a client's properties, `bootstrap.servers` among them; a given address wins."""
        found = next((properties[name] for name in _ADDRESSES if name in properties), None)
        rest = {name: value for name, value in properties.items() if name not in _ADDRESSES}
        return cls(bootstrap_servers or found or DEFAULT_SERVERS, rest)

    def librdkafka(self) -> dict[str, Any]:
        """Return the settings of a confluent-kafka client; raises InvalidPropertiesError."""
        by_token = {} if self.tokens is None else {"oauth_cb": self.tokens}
        servers = {"bootstrap.servers": self.bootstrap_servers}
        return {**to_librdkafka(self.properties), **by_token, **servers}

    def producer(self) -> dict[str, Any]:
        """Return the settings of a confluent-kafka producer.

        Unless they say otherwise, a key goes to the partition that Kafka's own clients choose for
        it: what is joined by key must lie in the same partition, whoever wrote it.
        """
        return {**JAVAS_PARTITIONER, **self.librdkafka()}

    def for_admin(self) -> ClusterAccess:
        """Return an access with what lets a client in, and nothing else.

        The rest is meant for those that read and write, and may be in the words of one library.
        """
        of_security = {
            name: value
            for name, value in self.properties.items()
            if name == "client.id" or name.partition(".")[0] in ("security", "sasl", "ssl")
        }
        return ClusterAccess(self.bootstrap_servers, of_security, self.tokens)

    def java(self) -> dict[str, str]:
        """Return the settings of a Java client, such as Spark's; raises InvalidPropertiesError."""
        return {**to_java(self.properties), "bootstrap.servers": self.bootstrap_servers}
