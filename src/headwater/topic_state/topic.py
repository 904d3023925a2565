"""The topic that a state is kept in: created where it is missing, checked where it is there."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from headwater.topic_state.errors import TopicError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

logger = logging.getLogger("headwater.topic_state")


@dataclass(frozen=True, slots=True)
class StateTopic:
    """A topic to keep a state in: of one partition, as its order counts.

    It is compacted, unless every record of it counts for ever, also those that a later one of
    the same key follows. What it `holds` and the `setting` that names it stand in messages about
    a topic that is unfit.
    """

    name: str
    replication_factor: int
    holds: str
    setting: str
    is_compacted: bool = True

    @property
    def config(self) -> dict[str, str]:
        """The settings of the topic."""
        if self.is_compacted:
            return {"cleanup.policy": "compact"}
        return {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


async def prepare_topic(client: Mapping[str, Any], wanted: StateTopic, timeout_s: float) -> str:
    """See to it that the topic is there and fit for its purpose; returns the cluster's id.

    Raises TopicError, whose message says what to do.
    """
    topic, replication_factor = wanted.name, wanted.replication_factor
    admin = AdminClient(dict(client))
    try:
        cluster = await _answer(admin.describe_cluster(request_timeout=timeout_s), timeout_s)
        # Asking for the one topic would create it, with whatever settings the broker likes.
        description = admin.list_topics(timeout=timeout_s).topics.get(topic)
        if description is None or description.error is not None:
            factor = min(replication_factor, len(cluster.nodes))
            if factor < replication_factor:
                logger.warning(
                    "%s is kept on %d broker(s), as there are no more; %d are asked for",
                    topic, factor, replication_factor,
                )  # fmt: skip
            await _create(admin, wanted, factor, timeout_s)
            return str(cluster.cluster_id)
        if len(description.partitions) != 1:
            raise TopicError(
                f"the topic {topic} has {len(description.partitions)} partitions, but the order of "
                f"{wanted.holds} needs one. Choose another one with {wanted.setting}"
            )
        await _check_settings(admin, wanted, timeout_s)
        return str(cluster.cluster_id)
    except KafkaException as failure:
        servers = client.get("bootstrap.servers")
        raise TopicError(f"no answer from Kafka at {servers}: {failure.args[0].str()}") from None


async def _create(admin: AdminClient, wanted: StateTopic, factor: int, timeout_s: float) -> None:
    topic = wanted.name
    new = NewTopic(topic, num_partitions=1, replication_factor=factor, config=wanted.config)
    try:
        await _answer(admin.create_topics([new], request_timeout=timeout_s)[topic], timeout_s)
        logger.info("created the topic %s", topic)
    except KafkaException as failure:
        # Another instance that starts at the same time may have been faster.
        if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise TopicError(
                f"the topic {topic} cannot be created: {failure.args[0].str()}"
            ) from None


async def _check_settings(admin: AdminClient, wanted: StateTopic, timeout_s: float) -> None:
    topic = wanted.name
    resource = ConfigResource(ResourceType.TOPIC, topic)
    future = admin.describe_configs([resource], request_timeout=timeout_s)[resource]
    found = await _answer(future, timeout_s)
    for name, value in wanted.config.items():
        has = found[name].value.strip()
        if has != value:
            raise TopicError(
                f"the topic {topic} has {name}={has}, which will lose {wanted.holds}. "
                f"Set it: headwater configs alter --topic {topic} --add {name}={value}"
            )


async def _answer(future: Future[Any], timeout_s: float) -> Any:
    return await asyncio.wait_for(asyncio.wrap_future(future), timeout_s + 5)
