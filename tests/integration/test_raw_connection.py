"""What holds for every request on a connection: versions, headers and the order of answers."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, Any

import pytest
from kio.index import load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader
from tests.integration.raw_client import RawClient, request_frame
from tests.integration.raw_requests import (
    Topic,
    fetch_partition,
    fetch_topic,
    produce,
    produce_body,
)
from tests.integration.record_batches import batch_of

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess

API_VERSIONS = 18
SOFTWARE = {"client_software_name": "raw", "client_software_version": "1.0"}

# What this broker must serve, each version of it.
SERVED = {
    "produce": (0, 13),  # 0 to 2 in name only
    "fetch": (4, 18),
    "list_offsets": (1, 11),
    "metadata": (0, 13),
    "api_versions": (0, 4),
    "create_topics": (2, 7),
    "delete_topics": (1, 6),
    "delete_records": (0, 2),
    "create_partitions": (0, 3),
    "describe_configs": (1, 4),
    "alter_configs": (0, 2),
    "incremental_alter_configs": (0, 1),
    "describe_cluster": (0, 2),
    "describe_topic_partitions": (0, 0),
    "offset_for_leader_epoch": (2, 4),
    "describe_log_dirs": (1, 5),
    "list_config_resources": (0, 1),
    "elect_leaders": (0, 2),
    "list_partition_reassignments": (0, 0),
}


@pytest.mark.parametrize("version", range(5))
def test_api_versions_tells_what_is_served(client: RawClient, version: int) -> None:
    answer = client.call("api_versions", version, **SOFTWARE)

    assert answer.error_code is ErrorCode.none
    told = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
    named = {api_key_map[key]: versions for key, versions in told.items() if key in api_key_map}
    assert {name: named.get(name) for name in SERVED} == SERVED


def test_every_advertised_version_is_decoded_and_answered(broker: BrokerProcess) -> None:
    """An empty request of each version gets an answer that its schema can read to the end."""
    with RawClient(broker) as client:
        told = client.call("api_versions", 4, **SOFTWARE).api_keys
    for api in told:
        name = api_key_map[api.api_key]
        for version in range(api.min_version, api.max_version + 1):
            if name in SERVED and version in schema_name_map[name]:
                with RawClient(broker) as client:
                    client.call(name, version, acks=1, **SOFTWARE)


@pytest.mark.parametrize("version", [5, 6, 1000, 32767, -1])
def test_unknown_version_of_api_versions_is_answered_in_v0(
    broker: BrokerProcess, version: int
) -> None:
    with RawClient(broker) as client:
        client.send_frame(struct.pack(">hhih", API_VERSIONS, version, 77, 3) + b"new\x00\x00")
        frame = client.receive_frame()
        assert struct.unpack_from(">i", frame)[0] == 77
        answer: Any
        answer, size = entity_reader(load_response_schema(API_VERSIONS, 0))(frame, 4)
        assert size == len(frame) - 4
        assert answer.error_code is ErrorCode.unsupported_version
        told = {api.api_key: api for api in answer.api_keys}
        assert (told[API_VERSIONS].min_version, told[API_VERSIONS].max_version) == (0, 4)

        again = client.call("api_versions", told[API_VERSIONS].max_version, **SOFTWARE)
        assert again.error_code is ErrorCode.none


def test_api_versions_wants_a_decent_client_name(client: RawClient) -> None:
    answer = client.call("api_versions", 3, client_software_name="no spaces, please")

    assert answer.error_code is ErrorCode.invalid_request


@pytest.mark.parametrize("client_id", [None, "", "ü" * 300])
def test_any_client_id_will_do(broker: BrokerProcess, client_id: str | None) -> None:
    with RawClient(broker, client_id) as client:
        assert client.call("metadata", 0).brokers
        assert client.call("metadata", 12).brokers


def test_unknown_tagged_fields_are_skipped(client: RawClient) -> None:
    frame = request_frame("metadata", 12, 5, "raw", {"topics": []})
    header_end = 2 + 2 + 4 + 2 + 3
    assert frame[header_end] == 0
    assert frame[-1] == 0
    tagged = b"\x01\xe7\x07\x03abc"  # one field, tag 999, three bytes
    client.send_frame(frame[:header_end] + tagged + frame[header_end + 1 : -1] + tagged)

    answer = client.receive_frame()

    assert struct.unpack_from(">i", answer)[0] == 5


def test_pipelined_requests_are_answered_in_order(client: RawClient, created: Topic) -> None:
    sent = []
    for number in range(100):
        sent.append(client.send("produce", 12, **produce_body(created, batch_of([b"%d" % number]))))
        sent.append(client.send("metadata", 12, topics=[{"name": created.name}]))
        sent.append(
            client.send(
                "fetch",
                12,
                max_wait=0,
                min_bytes=0,
                topics=[fetch_topic(created, fetch_partition(0, 0))],
            )
        )

    # `receive` itself insists on the correlation id of the oldest request.
    answers = [client.receive() for _ in sent]

    offsets = [a.responses[0].partition_responses[0].base_offset for a in answers[::3]]
    assert offsets == list(range(100))


def test_a_request_behind_a_long_poll_waits_its_turn(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    client.send(
        "fetch",
        12,
        max_wait=20_000,
        min_bytes=1,
        topics=[fetch_topic(created, fetch_partition())],
    )
    client.send("metadata", 12, topics=[])
    with RawClient(broker) as other:
        produce(other, created, batch_of([b"x"]))

    assert client.receive().responses[0].partitions[0].high_watermark == 1
    assert client.receive().brokers


def test_requests_in_single_bytes_and_in_one_lump(broker: BrokerProcess) -> None:
    frame = request_frame("metadata", 1, 1, "raw", {"topics": []})
    whole = struct.pack(">i", len(frame)) + frame
    with RawClient(broker) as client:
        for byte in whole:
            client.socket.sendall(bytes([byte]))
        assert client.receive_frame()[:4] == b"\x00\x00\x00\x01"
        client.socket.sendall(whole * 50)
        for _ in range(50):
            assert client.receive_frame()[:4] == b"\x00\x00\x00\x01"


def test_what_was_sent_before_hanging_up_is_done(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    """A producer that half-closes its connection still gets its records in and its answer."""
    with RawClient(broker) as other:
        other.send("produce", 12, **produce_body(created, batch_of([b"bye"])))
        assert other.receive().responses[0].partition_responses[0].base_offset == 0
        other.send("produce", 12, answered=False, **produce_body(created, batch_of([b"!"]), acks=0))
        other.socket.shutdown(socket.SHUT_WR)
        assert other.is_closed_by_broker()

    assert produce(client, created, batch_of([b"after"])).base_offset == 2
