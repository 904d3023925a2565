"""Version 3 of the REST proxy: resources with links, and records as they come."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.registry_fixtures import read_topic
from tests.registry_process import RegistryProcess
from tests.rest_process import RestProcess
from tests.waiting import HUNG_AFTER_S, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.http_process import Response

JSON = "application/json"


class V3:
    """Asks one proxy about its cluster."""

    def __init__(self, rest: RestProcess) -> None:
        self.rest = rest
        (cluster,) = rest.request("GET", "/v3/clusters", headers={"Accept": "*/*"}).body["data"]
        self.cluster = cluster
        self.path = f"/v3/clusters/{cluster['cluster_id']}"

    def ask(self, method: str, path: str, body: object = None) -> Response:
        headers = {"Accept": "*/*", "Content-Type": JSON}
        return self.rest.request(method, f"{self.path}/{path}", body, headers)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer
        assert answer.headers["content-type"] == JSON
        return answer.body

    def create(self, topic: str, **more: Any) -> Response:
        return self.ask("POST", "topics", {"topic_name": topic, **more})

    def produce(self, topic: str, *records: Any) -> list[dict[str, Any]]:
        """Write records, one after the other in one body."""
        body = b" ".join(json.dumps(record).encode() for record in records)
        answer = self.ask("POST", f"topics/{topic}/records", body)
        assert answer.status == 200, answer
        return [json.loads(line) for line in answer.raw.splitlines()]


@pytest.fixture(scope="module")
def registry(broker: BrokerProcess) -> Iterator[RegistryProcess]:
    process = RegistryProcess(broker.bootstrap_servers).start()
    yield process
    process.stop()


@pytest.fixture(scope="module")
def v3(broker: BrokerProcess, registry: RegistryProcess) -> Iterator[V3]:
    options = ["--registry", registry.url, "--property=max.request.bytes=100000"]
    process = RestProcess(broker.bootstrap_servers, options).start()
    yield V3(process)
    process.stop()


def test_clusters_and_brokers(v3: V3) -> None:
    id_ = v3.cluster["cluster_id"]
    itself = f"http://127.0.0.1:{v3.rest.port}{v3.path}"
    assert v3.cluster["metadata"] == {"self": itself, "resource_name": f"crn:///kafka={id_}"}
    assert v3.cluster["controller"] == {"related": f"{itself}/brokers/1"}
    assert v3.rest.get(v3.path) == v3.cluster
    (broker,) = v3.get("brokers")["data"]
    assert v3.get("brokers/1") == broker
    assert (broker["kind"], broker["broker_id"]) == ("KafkaBroker", 1)
    assert v3.ask("GET", "brokers/9").body["error_code"] == 404
    wrong = v3.rest.request("GET", "/v3/clusters/other/topics")
    assert (wrong.status, wrong.body["error_code"]) == (404, 404)


def test_topics(v3: V3, topic: str) -> None:
    tried = v3.create(topic, partitions_count=2, validate_only=True)
    assert (tried.status, tried.body["partitions_count"]) == (200, 2)
    assert v3.ask("GET", f"topics/{topic}").body["error_code"] == 40403
    configs = [{"name": "cleanup.policy", "value": "compact"}]
    made = v3.create(topic, partitions_count=2, replication_factor=1, configs=configs)
    assert made.status == 201, made
    assert made.body == v3.get(f"topics/{topic}")
    assert made.body["metadata"]["resource_name"].endswith(f"/topic={topic}")
    assert v3.create(topic).body["error_code"] == 40002
    wrong = [{"name": "retention.ms", "value": "much"}]
    assert v3.create(f"{topic}-wrong", configs=wrong).body["error_code"] == 40002
    assert v3.create("not a name").body["error_code"] == 40002
    operations = v3.get(f"topics/{topic}?include_authorized_operations=true")
    assert "READ" in operations["authorized_operations"]
    assert v3.ask("PATCH", f"topics/{topic}", {"partitions_count": 3}).status == 200
    wait_for(lambda: len(v3.get(f"topics/{topic}/partitions")["data"]) == 3)
    partition = v3.get(f"topics/{topic}/partitions/2")
    (replica,) = v3.get(f"topics/{topic}/partitions/2/replicas")["data"]
    assert partition["leader"] == {"related": replica["metadata"]["self"]}
    assert (replica["is_leader"], replica["is_in_sync"], replica["broker_id"]) == (True, True, 1)
    assert v3.get(f"topics/{topic}/partitions/2/replicas/1") == replica
    assert replica in v3.get("brokers/1/partition-replicas")["data"]
    assert v3.get(f"topics/{topic}/partitions/2/offset")["latest_offset"] == 0
    assert v3.ask("GET", f"topics/{topic}/partitions/7").body["error_code"] == 40402
    for path in (f"topics/{topic}/partitions/-/reassignment", "topics/-/partitions/-/reassignment"):
        assert v3.get(path)["data"] == []
    assert v3.ask("GET", f"topics/{topic}/partitions/0/reassignment").status == 404
    assert v3.ask("DELETE", f"topics/{topic}").status == 204
    for method in ("DELETE", "PATCH"):
        gone = v3.ask(method, f"topics/{topic}", {"partitions_count": 9})
        assert (gone.status, gone.body["error_code"]) == (404, 40403)
    for number, placed in enumerate(({"0": [1]}, [{"partition_id": 0, "broker_ids": [1]}])):
        made = v3.create(f"{topic}-placed-{number}", replicas_assignments=placed)
        assert (made.status, made.body["replication_factor"]) == (201, 1)


def test_pages(v3: V3, topic: str) -> None:
    for number in range(3):
        assert v3.create(f"{topic}-{number}").status == 201
    names: list[str] = []
    url = f"{v3.path}/topics?page_size=2"
    while url:
        page = v3.rest.get(url)
        assert len(page["data"]) <= 2
        names += [each["topic_name"] for each in page["data"]]
        url = (page["metadata"]["next"] or "").removeprefix(f"http://127.0.0.1:{v3.rest.port}")
    assert names == sorted(names)
    assert {f"{topic}-{number}" for number in range(3)} <= set(names)
    assert v3.ask("GET", "topics?page_size=-1").status == 400


def test_settings(v3: V3, topic: str) -> None:
    v3.create(topic)
    for path, name, kind in (
        (f"topics/{topic}/configs", "retention.ms", "KafkaTopicConfig"),
        ("brokers/1/configs", "log.retention.ms", "KafkaBrokerConfig"),
        ("broker-configs", "log.retention.ms", "KafkaClusterConfig"),
    ):
        put = v3.ask("PUT", f"{path}/{name}", {"value": "123456"})
        assert put.status == 204, put
        found = _once_set(v3, f"{path}/{name}", "123456")
        assert (found["kind"], found["is_default"]) == (kind, False)
        assert found in v3.get(path)["data"]
        assert v3.ask("DELETE", f"{path}/{name}").status == 204
        changes = {"data": [{"name": name, "value": "77777"}], "validate_only": True}
        assert v3.ask("POST", f"{path}:alter", changes).status == 204
        changes["validate_only"] = False
        assert v3.ask("POST", f"{path}:alter", changes).status == 204
        _once_set(v3, f"{path}/{name}", "77777")
        back = {"data": [{"name": name, "operation": "DELETE"}]}
        assert v3.ask("POST", f"{path}:alter", back).status == 204
        wrong = {"data": [{"name": name, "operation": "DOUBLE"}]}
        assert v3.ask("POST", f"{path}:alter", wrong).body["error_code"] == 42206
        assert v3.ask("GET", f"{path}/no.such.setting").status == 404
        assert v3.ask("PUT", f"{path}/{name}", {"value": "much"}).status >= 400
    assert any(each["topic_name"] == topic for each in v3.get("topics/-/configs")["data"])
    assert len(v3.get("brokers/-/configs")["data"]) > 100


def test_settings_of_topics_together(v3: V3, topic: str) -> None:
    changes = [{"name": "retention.ms", "value": "55555"}]
    wrong = [{"name": "retention.ms", "value": "much"}]
    path = "topics/-/configs:alter"
    v3.create(topic)
    body = {"data": [{"topic_name": topic, "configs": changes}], "validate_only": True}
    assert v3.ask("POST", path, body).status == 204
    assert v3.get(f"topics/{topic}/configs/retention.ms")["is_default"]
    mixed = [
        {"topic_name": f"{topic}-none", "configs": changes},
        {"topic_name": topic, "configs": changes},
        {"topic_name": topic, "configs": wrong},
    ]
    answer = v3.ask("POST", path, {"data": mixed})
    assert answer.status == 207
    codes = [(each["topic_name"], each["error_code"]) for each in answer.body["failures"]]
    assert codes == [(f"{topic}-none", 40403), (topic, 40002)]
    _once_set(v3, f"topics/{topic}/configs/retention.ms", "55555")
    assert v3.ask("POST", path, {"data": []}).body["error_code"] == 42206

    new = v3.get(f"topics/{topic}-new/default-configs")
    named = {each["name"]: each for each in new["data"]}
    assert (new["kind"], named["retention.ms"]["value"]) == ("KafkaTopicConfigList", "604800000")
    assert named["cleanup.policy"]["is_default"]
    taken = v3.ask("GET", f"topics/{topic}/default-configs")
    assert (taken.status, taken.body["error_code"]) == (400, 40002)
    assert v3.ask("GET", "topics/no%20name/default-configs").status == 400


def _once_set(v3: V3, path: str, value: str) -> Any:
    """Apache Kafka's brokers learn of a change a moment after it was made."""
    return wait_for(
        lambda: v3.ask("GET", path).body, until=lambda found: found.get("value") == value
    )


def test_groups(v3: V3, topic: str) -> None:
    rest = v3.rest
    rest.produce(topic, "json", *({"value": number} for number in range(3)))
    path = rest.consumer("watched", topic, format="json")
    rest.read_until(path, 3)
    rest.post(f"{path}/offsets", {"offsets": [{"topic": topic, "partition": 0, "offset": 0}]})
    group = v3.get("consumer-groups/watched")
    assert (group["state"], group["type"], group["is_simple"]) == ("STABLE", "CLASSIC", False)
    assert group in v3.get("consumer-groups")["data"]
    (member,) = v3.get("consumer-groups/watched/consumers")["data"]
    id_ = member["consumer_id"]
    assert v3.get(f"consumer-groups/watched/consumers/{id_}") == member
    assert member["client_id"] == "headwater-rest"
    assigned = f"consumer-groups/watched/consumers/{id_}/assignments"
    (assignment,) = v3.get(assigned)["data"]
    assert v3.get(f"{assigned}/{topic}/partitions/0") == assignment
    (lag,) = v3.get("consumer-groups/watched/lags")["data"]
    assert (lag["current_offset"], lag["log_end_offset"], lag["lag"]) == (1, 3, 2)
    assert lag["consumer_id"] == id_
    assert v3.get(f"consumer-groups/watched/lags/{topic}/partitions/0") == lag
    summary = v3.get("consumer-groups/watched/lag-summary")
    assert (summary["max_lag"], summary["total_lag"]) == (2, 2)
    assert summary["max_lag_consumer"] == {"related": member["metadata"]["self"]}
    assert v3.ask("GET", "consumer-groups/nobody").body["error_code"] == 40405
    assert v3.ask("GET", "consumer-groups/watched/consumers/nobody").status == 404
    assert isinstance(v3.get("share-groups")["data"], list)
    rest.request("DELETE", path)


def test_links_lead_somewhere(v3: V3, topic: str) -> None:
    """All that can be come to from the cluster, by the first of each list."""
    v3.create(topic)
    left, seen = [v3.cluster], {v3.cluster["metadata"]["self"]}
    while left:
        values = [each for each in left.pop().values() if isinstance(each, dict)]
        links = [each["related"] for each in values if "related" in each]
        for link in set(links) - seen:
            seen.add(link)
            path = link.removeprefix(f"http://127.0.0.1:{v3.rest.port}{v3.path}/")
            answer = v3.ask("GET", path)
            if path.endswith("/acls") or path == "acls":
                continue  # there may be no authorizer
            if path.endswith("/reassignment") and "/-/" not in path:
                assert answer.body["error_code"] == 404, link  # it is not being moved
                continue
            if path.endswith("lag-summary") or "/lags/" in path:
                continue  # there may be no offsets
            assert answer.status == 200, (link, answer)
            found = answer.body.get("data", [answer.body])[:1]
            for each in found:
                itself = each["metadata"]["self"]
                if itself not in seen:
                    seen.add(itself)
                    assert v3.rest.get(itself.partition(str(v3.rest.port))[2]) == each
                    left.append(each)
    assert any(link.endswith("/replicas/1") for link in seen)


def test_acls(v3: V3) -> None:
    """Where there is no authorizer, Confluent's code says so."""
    answer = v3.ask("GET", "acls")
    assert answer.status == 200 or answer.body["error_code"] == 40002
    assert v3.ask("GET", "acls?operation=SING").status == 400
    assert v3.ask("DELETE", "acls").status == 400
    acl = {
        "resource_type": "TOPIC",
        "resource_name": "x",
        "pattern_type": "ANY",
        "principal": "User:ann",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
    }
    assert v3.ask("POST", "acls", acl).body["error_code"] == 42206
    assert v3.ask("POST", "acls:batch", {"data": []}).body["error_code"] == 42206


def test_records(v3: V3, broker: BrokerProcess, registry: RegistryProcess, topic: str) -> None:
    schema = json.dumps({"type": "string"})
    answers = v3.produce(
        topic,
        {"key": {"type": "STRING", "data": "é"}, "value": {"type": "JSON", "data": {"a": [1]}}},
        {"value": {"type": "BINARY", "data": "AAE="}, "timestamp": "2021-02-05T19:14:42Z"},
        {"value": {"type": "AVRO", "schema": schema, "data": "text"}},
        {"value": {"data": "latest"}, "headers": [{"name": "h", "value": "YQ=="}, {"name": "n"}]},
        {"value": {"schema_version": 1, "data": "by version"}},
        {"key": {"type": "JSON", "data": None}},
    )
    assert [each["error_code"] for each in answers] == [200] * 6
    assert [each["offset"] for each in answers] == list(range(6))
    assert answers[0]["key"] == {"type": "STRING", "size": 2}
    assert answers[1]["timestamp"] == "2021-02-05T19:14:42.000Z"
    told = answers[2]["value"]
    assert (told["type"], told["subject"], told["schema_version"]) == ("AVRO", f"{topic}-value", 1)
    assert registry.get(f"/subjects/{topic}-value/versions/1")["id"] == told["schema_id"]
    written = read_topic(broker.bootstrap_servers, topic)
    assert [(each.key, each.value) for each in written[:2]] == [
        ("é".encode(), b'{"a":[1]}'),
        (None, b"\x00\x01"),
    ]
    assert [(each.value or b"")[6:] for each in written[2:]] == [
        b"text",
        b"latest",
        b"by version",
        b"",
    ]


def test_records_that_are_refused(v3: V3, topic: str) -> None:
    v3.create(topic)
    fine = {"value": {"type": "STRING", "data": "fine"}}
    wrong: list[tuple[Any, int]] = [
        ({"value": {"type": "XML", "data": 1}}, 400),
        ({"value": {"type": "STRING", "data": 1}}, 42206),
        ({"value": {"type": "BINARY", "data": "!"}}, 42206),
        ({"value": {"type": "AVRO", "data": 1}}, 400),
        ({"value": {"type": "JSON", "data": 1, "schema_id": 1}}, 400),
        ({"value": {"schema_id": 1, "schema_version": 1, "data": 1}}, 400),
        ({"value": {"data": "no schema yet"}}, 40801),
        ({"value": {"type": "AVRO", "schema": "{", "data": 1}}, 42205),
        ({"colour": "red"}, 400),
        ({**fine, "partition_id": 9}, 40402),
        ({**fine, "partition_id": -1}, 40402),
    ]
    for record, code in wrong:
        answers = v3.produce(topic, record, fine)
        assert [each["error_code"] for each in answers] == [code, 200], (record, answers)
        assert answers[0]["message"]
    path = f"topics/{topic}/records"
    assert v3.ask("POST", path, b"").body["error_code"] == 42206
    for body in (b"nonsense", b'{"value": {"type"', b'{"value": "' + b"a" * 200_000 + b'"}'):
        answer = v3.ask("POST", path, body)
        assert json.loads(answer.raw)["error_code"] == 400, answer
    assert v3.ask("POST", "topics/no%20name/records", b"{}").body["error_code"] == 40002


def test_batches(v3: V3, topic: str) -> None:
    v3.create(topic)
    value = {"type": "STRING", "data": "a"}
    entries = [{"id": "one", "value": value}, {"id": "two", "value": value, "partition_id": 5}]
    path = f"topics/{topic}/records:batch"
    answer = v3.ask("POST", path, {"entries": entries})
    assert answer.status == 207
    (success,), (failure,) = answer.body["successes"], answer.body["failures"]
    assert (success["id"], success["offset"]) == ("one", 0)
    assert (failure["id"], failure["error_code"]) == ("two", 40402)
    many = [{"id": str(number), "value": value} for number in range(11)]
    for wrong in ([], many, [{"id": "a b"}], [{"id": "a"}, {"id": "a"}]):
        assert v3.ask("POST", path, {"entries": wrong}).body["error_code"] == 42208


class Streaming:
    """One connection on which records go out and answers come back."""

    def __init__(self, v3: V3, topic: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", v3.rest.port), HUNG_AFTER_S)
        path = f"{v3.path}/topics/{topic}/records"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"
        )
        self.socket.sendall(head.encode())
        self.answers = self.socket.makefile("rb")

    def send(self, value: str) -> None:
        record = json.dumps({"value": {"type": "STRING", "data": value}}).encode()
        self.socket.sendall(f"{len(record):x}\r\n".encode() + record + b"\r\n")

    def answer(self) -> dict[str, Any]:
        while not (line := self.answers.readline()).startswith(b"{"):
            assert line, "the stream ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        self.answers.close()
        self.socket.close()


def test_each_record_is_answered_while_the_connection_stays(v3: V3, topic: str) -> None:
    v3.create(topic)
    stream = Streaming(v3, topic)
    for number in range(3):
        stream.send(f"record {number}")
        assert stream.answer()["offset"] == number
    stream.socket.sendall(b"0\r\n\r\n")
    assert [stream.answers.readline() for _ in range(2)][-1] == b"0\r\n"
    stream.close()


def test_client_dies_in_the_middle(v3: V3, broker: BrokerProcess, topic: str) -> None:
    v3.create(topic)
    stream = Streaming(v3, topic)
    stream.send("whole")
    assert stream.answer()["offset"] == 0
    stream.socket.sendall(b'100\r\n{"value": {"type": "STRING", "data": "ha')
    stream.close()
    idle = b"headwater_rest_produce_bytes_in_flight 0.0"
    wait_for(lambda: idle in v3.rest.request("GET", "/metrics").raw)
    # The half is not written, and others are served.
    assert v3.produce(topic, {"value": {"type": "STRING", "data": "other"}})[0]["offset"] == 1
    written = read_topic(broker.bootstrap_servers, topic)
    assert [each.value for each in written] == [b"whole", b"other"]
    assert "Traceback" not in v3.rest.text


def test_client_that_reads_no_answers_is_not_read_from(v3: V3, topic: str) -> None:
    v3.create(topic)
    stream = Streaming(v3, topic)
    stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.socket.setblocking(False)
    record = b'{"value": {"type": "STRING", "data": "a"}}'
    chunk = f"{len(record):x}\r\n".encode() + record + b"\r\n"
    sent, most, pending = 0, 60_000_000, b""

    def push() -> None:
        nonlocal sent, pending
        with contextlib.suppress(BlockingIOError):
            while sent < most:
                pending = pending or chunk * 1000
                gone = stream.socket.send(pending)
                sent, pending = sent + gone, pending[gone:]

    def state() -> tuple[int, int]:
        push()
        offset: int = v3.get(f"topics/{topic}/partitions/0/offset")["latest_offset"]
        return sent, offset

    wait_for(lambda: (state(), state()), until=lambda two: two[0] == two[1])
    assert sent < most  # what the sockets' buffers take
    stream.close()
