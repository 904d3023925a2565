"""Version 2 of the REST proxy: a real broker, a real registry, and HTTP over sockets."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest
from tests.registry_process import RegistryProcess
from tests.rest_process import V2_JSON, RestProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Reading",
        "fields": [{"name": "sensor", "type": "string"}, {"name": "value", "type": "long"}],
    }
)
JSON_SCHEMA = json.dumps({"type": "object", "properties": {"value": {"type": "integer"}}})
PROTOBUF = 'syntax = "proto3"; message Reading { string sensor = 1; int32 value = 2; }'
LIMITS = ("max.request.bytes=100000", "producer.message.max.bytes=50000")


@pytest.fixture(scope="module")
def registry(broker: BrokerProcess) -> Iterator[RegistryProcess]:
    process = RegistryProcess(broker.bootstrap_servers).start()
    yield process
    process.stop()


@pytest.fixture(scope="module")
def rest(broker: BrokerProcess, registry: RegistryProcess) -> Iterator[RestProcess]:
    options = ["--registry", registry.url, *(f"--property={each}" for each in LIMITS)]
    process = RestProcess(broker.bootstrap_servers, options).start()
    yield process
    process.stop()


def test_metadata(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "binary", {"value": "YQ=="}, {"value": "Yg=="})
    assert topic in rest.get("/topics")
    described = rest.get(f"/topics/{topic}")
    assert described["configs"]["cleanup.policy"] == "delete"
    partition = {
        "partition": 0,
        "leader": 1,
        "replicas": [{"broker": 1, "leader": True, "in_sync": True}],
    }
    assert (described["name"], described["partitions"]) == (topic, [partition])
    assert rest.get(f"/topics/{topic}/partitions") == [partition]
    assert rest.get(f"/topics/{topic}/partitions/0") == partition
    offsets = {"beginning_offset": 0, "end_offset": 2}
    assert rest.get(f"/topics/{topic}/partitions/0/offsets") == offsets
    assert rest.get("/brokers") == {"brokers": [1]}
    for path, code in {
        "/topics/missing": 40401,
        "/topics/missing/partitions": 40401,
        f"/topics/{topic}/partitions/9": 40402,
        f"/topics/{topic}/partitions/x/offsets": 40402,
        "/topics/not%20a%20name": 40002,
        "/nowhere": 404,
    }.items():
        answer = rest.request("GET", path)
        assert answer.body["error_code"] == code, (path, answer)
        assert answer.headers["content-type"] == V2_JSON


@pytest.mark.parametrize("format_", ["binary", "json"])
def test_produced_is_consumed(rest: RestProcess, topic: str, format_: str) -> None:
    text = b64encode(b"\x00\xffbytes").decode()
    values = [text, text, None] if format_ == "binary" else [{"a": [1, None, "é"]}, 2**70, None]
    records = [{"value": value, "key": text} for value in values]
    answer = rest.produce(topic, format_, *records)
    assert answer.body == {
        "offsets": [
            {"partition": 0, "offset": offset, "error_code": None, "error": None}
            for offset in range(3)
        ],
        "key_schema_id": None,
        "value_schema_id": None,
    }
    path = rest.consumer("readers", topic, format=format_)
    expected = [
        {"topic": topic, "key": text, "value": value, "partition": 0, "offset": offset}
        for offset, value in enumerate(values)
    ]
    assert rest.read_until(path, 3) == expected
    assert rest.request("DELETE", path).status == 204
    assert rest.request("DELETE", path).body["error_code"] == 40403


@pytest.mark.parametrize(
    ("format_", "schema", "value"),
    [
        ("avro", AVRO, {"sensor": "boiler", "value": 812}),
        ("jsonschema", JSON_SCHEMA, {"value": 812}),
        ("protobuf", PROTOBUF, {"sensor": "boiler", "value": 812}),
    ],
)
def test_schemas(
    rest: RestProcess,
    registry: RegistryProcess,
    topic: str,
    format_: str,
    schema: str,
    value: dict[str, object],
) -> None:
    by_text = rest.produce(topic, format_, {"value": value}, value_schema=schema)
    assert by_text.status == 200, by_text
    id_ = by_text.body["value_schema_id"]
    assert registry.get(f"/subjects/{topic}-value/versions/1")["id"] == id_
    by_id = rest.produce(topic, format_, {"value": value}, {"value": None}, value_schema_id=id_)
    assert [each["offset"] for each in by_id.body["offsets"]] == [1, 2]
    path = rest.consumer(f"of-{topic}", topic, format=format_)
    assert [each["value"] for each in rest.read_until(path, 3)] == [value, value, None]
    rest.request("DELETE", path)
    wrong = rest.produce(topic, format_, {"value": {"value": "much"}}, value_schema_id=id_)
    assert wrong.body["error_code"] == 42203, wrong
    missing = rest.produce(topic, format_, {"key": 1, "value": value}, value_schema_id=id_)
    assert missing.body["error_code"] == 42201, missing
    assert rest.produce(topic, format_, {"value": value}).body["error_code"] == 42202
    broken = rest.produce(topic, format_, {"value": value}, value_schema="{")
    assert broken.body["error_code"] == 42205, broken
    assert rest.produce(topic, format_, {"value": 1}, value_schema_id=999).status == 408


def test_partitions_are_chosen(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "json", {"value": 1})
    media = "application/vnd.kafka.json.v1+json"  # old scripts name it, and mean the same
    answer = rest.post(f"/topics/{topic}/partitions/0", {"records": [{"value": 2}]}, media)
    assert answer.body["offsets"][0]["partition"] == 0
    nowhere = rest.post(f"/topics/{topic}/partitions/7", {"records": [{"value": 2}]}, media)
    assert (nowhere.status, nowhere.body["error_code"]) == (404, 40402)
    mixed = rest.produce(topic, "json", {"value": 3, "partition": 0}, {"value": 4, "partition": 5})
    assert [each["error_code"] for each in mixed.body["offsets"]] == [None, 40402]


def test_what_is_malformed(rest: RestProcess, topic: str) -> None:
    binary = "application/vnd.kafka.binary.v2+json"
    for body, status in {
        b'{"records": [{"value": ': 400,
        b"": 422,
        b"[]": 422,
        b'{"records": []}': 422,
        b'{"records": [{"value": "no base64!"}]}': 422,
        b'{"records": [{"value": "YQ==", "colour": "red"}]}': 422,
        b'{"records": [{"value": "YQ==", "partition": -3}]}': 422,
        b'{"records": [{"value": "YQ=="}], "more": 1}': 422,
        b"[" * 50_000: 422,
        b'{"records": [{"value": "' + b"A" * 200_000 + b'"}]}': 413,
    }.items():
        answer = rest.post(f"/topics/{topic}", body, binary)
        assert answer.status == status, (body[:50], answer)
    for media in ("application/json", "text/plain"):
        assert rest.post(f"/topics/{topic}", {"records": []}, media).status == 415
    assert topic not in rest.get("/topics")
    large = rest.produce(topic, "json", {"value": "small"}, {"value": "a" * 60_000})
    assert [each["error_code"] for each in large.body["offsets"]] == [None, 413]


def test_where_a_consumer_stands(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "json", *({"value": number} for number in range(5)))
    place = {"topic": topic, "partition": 0}
    path = rest.consumer("positions", format="json", name="mine", **{"auto.commit.enable": "false"})
    assert rest.request("GET", f"{path}/records").body["error_code"] == 40903
    assert rest.post(f"{path}/assignments", {"partitions": [place]}).status == 204
    assert rest.get(f"{path}/assignments") == {"partitions": [place]}
    assert rest.post(f"{path}/subscription", {"topics": [topic]}).body["error_code"] == 40903

    def values() -> list[object]:
        return [each["value"] for each in rest.read_until(path, 1)]

    assert values() == [0, 1, 2, 3, 4]
    moved = {"offsets": [{**place, "offset": 3}]}
    assert rest.post(f"{path}/positions", moved).status == 204
    assert values() == [3, 4]
    assert rest.post(f"{path}/positions/beginning", {"partitions": [place]}).status == 204
    assert values() == [0, 1, 2, 3, 4]
    assert rest.post(f"{path}/positions/end", {"partitions": [place]}).status == 204
    rest.produce(topic, "json", {"value": "new"})
    assert values() == ["new"]
    elsewhere = {"offsets": [{"topic": topic, "partition": 4, "offset": 0}]}
    assert rest.post(f"{path}/positions", elsewhere).body["error_code"] == 40903

    def committed() -> list[dict[str, object]]:
        answer = rest.request("GET", f"{path}/offsets", {"partitions": [place]})
        offsets: list[dict[str, object]] = answer.body["offsets"]
        return offsets

    assert committed() == []
    rest.post(f"{path}/offsets", {"offsets": [{**place, "offset": 1, "metadata": "why"}]})
    assert committed() == [{**place, "offset": 2, "metadata": "why"}]
    assert rest.post(f"{path}/offsets").status == 200
    assert committed() == [{**place, "offset": 6, "metadata": ""}]
    rest.request("DELETE", path)


def test_group_goes_on_where_it_was(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "json", {"value": 1}, {"value": 2})
    path = rest.consumer("resuming", topic, format="json")
    assert rest.get(f"{path}/subscription") == {"topics": [topic]}
    one = rest.read_until(path, 2)
    assert [each["value"] for each in one] == [1, 2]
    rest.request("DELETE", path)  # commits what was handed out
    rest.produce(topic, "json", {"value": 3})
    path = rest.consumer("resuming", format="json")
    rest.post(f"{path}/subscription", {"topic_pattern": f"{topic[:-2]}.."})
    assert [each["value"] for each in rest.read_until(path, 1)] == [3]
    assert rest.get(f"{path}/subscription") == {"topics": [topic]}
    assert rest.request("DELETE", f"{path}/subscription").status == 204
    assert rest.get(f"{path}/subscription") == {"topics": []}
    rest.request("DELETE", path)


def test_limits_of_an_answer(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "json", *({"value": "a" * 98} for _ in range(5)))  # of 100 bytes each
    path = rest.consumer("limits", topic, format="json", **{"auto.commit.enable": False})
    counts: list[int] = []
    while sum(counts) < 5:
        got = len(rest.read(path, "?max_bytes=250&timeout=2000"))
        counts += [got] if got else []
    assert counts == [2, 2, 1]
    rest.request("DELETE", path)
    # A record that is larger than all that is asked for does not stand in the way for ever.
    path = rest.consumer("small-limits", topic, format="json")
    assert len(rest.read_until(path, 1)) >= 1
    rest.request("DELETE", path)


def test_consumers_that_cannot_be(rest: RestProcess, topic: str) -> None:
    for given in (
        {"format": "xml"},
        {"auto.offset.reset": "sometimes"},
        {"auto.commit.enable": "perhaps"},
        {"fetch.min.bytes": "many"},
        {"consumer.request.timeout.ms": 0},
    ):
        assert rest.post("/consumers/none", given).body["error_code"] == 42204
    assert rest.post("/consumers/none", {"colour": "red"}).status == 422
    path = rest.consumer("none", name="twice", format="json")
    assert rest.post("/consumers/none", {"name": "twice"}).body["error_code"] == 40902
    for body in ({}, {"topics": ["a"], "topic_pattern": "b"}, {"topic_pattern": "("}):
        assert rest.post(f"{path}/subscription", body).body["error_code"] == 42206
    wrong = rest.request(
        "GET", f"{path}/records", headers={"Accept": "application/vnd.kafka.binary.v2+json"}
    )
    assert (wrong.status, wrong.body["error_code"]) == (406, 40601)
    rest.request("DELETE", path)


def test_malformed_records_say_where_they_are(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "binary", {"value": b64encode(b"no JSON").decode()}, {"value": "MQ=="})
    path = rest.consumer("malformed", topic, format="json")

    def answer() -> str:
        said = rest.request("GET", f"{path}/records", headers={"Accept": "*/*"})
        return str(said.body["message"]) if said.status == 408 else ""

    assert f"{topic}-0 at offset 0: it is not JSON" in wait_for(answer)
    rest.post(f"{path}/positions", {"offsets": [{"topic": topic, "partition": 0, "offset": 1}]})
    assert rest.read_until(path, 1)[0]["value"] == 1
    rest.request("DELETE", path)


def test_openapi_and_metrics(rest: RestProcess) -> None:
    paths = rest.get("/openapi.json")["paths"]
    assert "/consumers/{group}/instances/{instance}/records" in paths
    assert b"headwater_rest_consumer_instances" in rest.request("GET", "/metrics").raw
    assert rest.get("/health") == {"status": "UP"}
