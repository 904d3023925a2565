"""The routes of version 2."""

from __future__ import annotations

from headwater.http.routes import Parameter, Route
from headwater.rest.v2 import consumers, produce, topics

_TOPIC = "/topics/{topic}"
_PARTITION = "/topics/{topic}/partitions/{partition}"
_INSTANCE = "/consumers/{group}/instances/{instance}"
_TIMEOUT = Parameter("timeout", "How long to wait for records, in milliseconds.", "integer")
_MAX_BYTES = Parameter("max_bytes", "How many bytes of records to return at most.", "integer")


def routes() -> list[Route]:
    """Return all of them."""
    return [*_metadata(), *_produce(), *_consumers(), *_positions()]


def _metadata() -> list[Route]:
    return [
        Route("GET", "/", topics.root, "Is the proxy there?", "Anything"),
        Route("POST", "/", topics.root, "Is the proxy there?", "Anything"),
        Route("GET", "/topics", topics.list_topics, "List topics", "Strings"),
        Route("GET", _TOPIC, topics.get_topic, "Get a topic", "Topic", errors=(404,)),
        Route(
            "GET", f"{_TOPIC}/partitions", topics.list_partitions, "List a topic's partitions",
            "Partitions", errors=(404,),
        ),
        Route(
            "GET", _PARTITION, topics.get_partition, "Get a partition", "Partition", errors=(404,)
        ),
        Route(
            "GET", f"{_PARTITION}/offsets", topics.get_offsets,
            "Get the first and the next offset of a partition", "Offsets", errors=(404,),
        ),
        Route("GET", "/brokers", topics.list_brokers, "List brokers", "Brokers"),
    ]  # fmt: skip


def _produce() -> list[Route]:
    return [
        Route(
            "POST", _TOPIC, produce.produce, "Write records to a topic", "Produced",
            body="Produce", errors=(404, 408, 413, 415, 422, 429),
        ),
        Route(
            "POST", _PARTITION, produce.produce, "Write records to a partition", "Produced",
            body="Produce", errors=(404, 408, 413, 415, 422, 429),
        ),
    ]  # fmt: skip


def _consumers() -> list[Route]:
    return [
        Route(
            "POST", "/consumers/{group}", consumers.create, "Make a consumer instance",
            "CreatedConsumer", body="CreateConsumer", errors=(409, 422),
        ),
        Route(
            "DELETE", _INSTANCE, consumers.delete, "Delete a consumer instance", "Nothing",
            errors=(404,), status=204,
        ),
        Route(
            "POST", f"{_INSTANCE}/subscription", consumers.subscribe, "Subscribe to topics",
            "Nothing", body="Subscription", errors=(404, 409, 422), status=204,
        ),
        Route(
            "GET", f"{_INSTANCE}/subscription", consumers.get_subscription,
            "Get the topics of a subscription", "Subscription", errors=(404,),
        ),
        Route(
            "DELETE", f"{_INSTANCE}/subscription", consumers.unsubscribe, "Unsubscribe", "Nothing",
            errors=(404,), status=204,
        ),
        Route(
            "POST", f"{_INSTANCE}/assignments", consumers.assign, "Assign partitions", "Nothing",
            body="TopicPartitions", errors=(404, 409, 422), status=204,
        ),
        Route(
            "GET", f"{_INSTANCE}/assignments", consumers.get_assignment,
            "Get the partitions of an instance", "TopicPartitions", errors=(404,),
        ),
        Route(
            "GET", f"{_INSTANCE}/records", consumers.get_records, "Read records", "Records",
            query=(_TIMEOUT, _MAX_BYTES), errors=(404, 406, 408, 409), changes=True,
        ),
    ]  # fmt: skip


def _positions() -> list[Route]:
    return [
        Route(
            "POST", f"{_INSTANCE}/positions", consumers.seek, "Go on from other offsets",
            "Nothing", body="TopicOffsets", errors=(404, 409, 422), status=204,
        ),
        Route(
            "POST", f"{_INSTANCE}/positions/beginning", consumers.seek_to_beginning,
            "Go on from the first offset", "Nothing", body="TopicPartitions",
            errors=(404, 409, 422), status=204,
        ),
        Route(
            "POST", f"{_INSTANCE}/positions/end", consumers.seek_to_end,
            "Go on from the end", "Nothing", body="TopicPartitions",
            errors=(404, 409, 422), status=204,
        ),
        Route(
            "POST", f"{_INSTANCE}/offsets", consumers.commit, "Commit offsets", "TopicOffsets",
            body="TopicOffsets", errors=(404, 422),
        ),
        Route(
            "GET", f"{_INSTANCE}/offsets", consumers.get_committed, "Get committed offsets",
            "TopicOffsets", body="TopicPartitions", errors=(404, 422),
        ),
    ]  # fmt: skip
