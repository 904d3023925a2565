"""The settings that a new topic would have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import KafkaError

from headwater.clients.raw.new_topic_configs import TopicRefusedError, new_topic_configs
from headwater.rest.errors import kafka_error
from headwater.rest.v3.configs import source_of
from headwater.rest.v3.links import links_of

if TYPE_CHECKING:
    from headwater.clients.raw.new_topic_configs import NewTopicConfig
    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService


async def list_default_configs(service: RestService, request: Request) -> Answer:
    """Answer GET .../topics/{topic_name}/default-configs."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]

    def ask(cluster: Cluster) -> list[NewTopicConfig]:
        try:
            return new_topic_configs(cluster.raw, topic)
        except TopicRefusedError as failure:
            raise kafka_error(KafkaError(failure.code, str(failure))) from None

    data = [
        links.resource(
            "KafkaTopicConfig",
            ("topics", topic, "configs", each.name),
            ("topic", topic, "config", each.name),
            topic_name=topic,
            name=each.name,
            value=each.value,
            is_default=source_of(each.source) == "DEFAULT_CONFIG",
            is_read_only=each.is_read_only,
            is_sensitive=each.is_sensitive,
            source=source_of(each.source),
            synonyms=[],
        )
        for each in await service.cluster.ask(ask)
    ]
    return links.list("KafkaTopicConfigList", ("topics", topic, "default-configs"), data)
