"""The REST proxy at its limits: many instances, left alone, a broker away, and too much at once."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.rest_process import V2_JSON, RestProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

INSTANCES = 1000
SUBSCRIBED = 50  # each joins a group of its own, which is work for the broker as well


@pytest.fixture(scope="module")
def rest(broker: BrokerProcess) -> Iterator[RestProcess]:
    process = RestProcess(broker.bootstrap_servers).start()
    yield process
    process.stop()


def test_thousand_instances(rest: RestProcess, topic: str) -> None:
    rest.produce(topic, "json", {"value": 1})
    process = psutil.Process(rest.pid)
    threads, memory = process.num_threads(), process.memory_info().rss
    given = json.dumps({"auto.offset.reset": "earliest", "format": "json", "fetch.min.bytes": 0})
    connection = rest.connect()
    paths = []
    for number in range(INSTANCES):
        headers = {"Content-Type": V2_JSON}
        connection.request("POST", f"/consumers/group-{number}", given, headers)
        instance = json.loads(connection.getresponse().read())["instance_id"]
        paths.append(f"/consumers/group-{number}/instances/{instance}")
    connection.close()
    # Whoever does not come back costs next to nothing.
    assert process.num_threads() - threads < 100
    assert process.memory_info().rss - memory < 20_000_000
    read = asyncio.run(_read_all(rest, paths[:SUBSCRIBED], topic))
    assert read == [[1]] * SUBSCRIBED
    # And whoever does costs four threads and less than half a megabyte.
    assert process.num_threads() - threads < SUBSCRIBED * 6 + 100
    assert (process.memory_info().rss - memory) / SUBSCRIBED < 1_000_000
    assert b"headwater_rest_consumer_instances 1000.0" in rest.request("GET", "/metrics").raw
    for path in paths:
        assert rest.request("DELETE", path).status == 204


async def _read_all(rest: RestProcess, paths: list[str], topic: str) -> list[list[Any]]:
    def read(path: str) -> list[Any]:
        assert rest.post(f"{path}/subscription", {"topics": [topic]}).status == 204
        return [record["value"] for record in rest.read_until(path, 1)]

    return list(await asyncio.gather(*(asyncio.to_thread(read, path) for path in paths)))


def test_expired(broker: BrokerProcess, topic: str) -> None:
    option = "--property=consumer.instance.timeout.ms=500"
    rest = RestProcess(broker.bootstrap_servers, [option]).start()
    rest.produce(topic, "json", {"value": 1})
    path = rest.consumer("left-alone", topic, format="json")
    alone = "headwater_rest_consumer_instances 0.0"
    wait_for(lambda: alone in rest.request("GET", "/metrics").raw.decode())
    assert rest.request("GET", f"{path}/records").body["error_code"] == 40403
    assert "of 'left-alone' has expired" in rest.text
    rest.stop()


def test_broker_goes_and_comes_back(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    options = ["producer.delivery.timeout.ms=2000", "client.timeout.ms=2000"]
    rest = RestProcess(
        broker.bootstrap_servers, [f"--property={option}" for option in options]
    ).start()
    # Two seconds may be too short for the first record, on a busy machine.
    acknowledged(rest, topic, 1)
    path = rest.consumer("patient", topic, format="json")
    assert rest.read_until(path, 1)[0]["value"] == 1
    broker.kill()
    lost = rest.produce(topic, "json", {"value": 2})
    assert [each["error_code"] for each in lost.body["offsets"]] == [50003]
    assert rest.request("GET", "/topics").body["error_code"] == 50003
    assert rest.read(path, "?timeout=100") == []
    broker.start()
    wait_for(lambda: rest.request("GET", "/topics").status == 200)
    acknowledged(rest, topic, 3)
    values: list[object] = []

    def is_read() -> bool:
        values.extend(record["value"] for record in rest.read(path))
        return 3 in values

    wait_for(is_read)
    rest.stop()


def acknowledged(rest: RestProcess, topic: str, value: int) -> None:
    """Write a record until the broker has taken it."""
    answer = wait_for(
        lambda: rest.produce(topic, "json", {"value": value}),
        until=lambda answer: answer.body["offsets"][0]["offset"] is not None,
    )
    assert answer.status == 200


def test_waits_for_room_and_then_refuses(start_broker: StartBroker, topic: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and says nothing
        options = [
            "producer.buffer.memory=1000",
            "producer.max.block.ms=300",
            "producer.delivery.timeout.ms=3000",
        ]
        rest = RestProcess(
            f"127.0.0.1:{silent.getsockname()[1]}", [f"--property={option}" for option in options]
        ).start()
        answers: list[Any] = []
        first = threading.Thread(
            target=lambda: answers.append(rest.produce(topic, "json", {"value": "a" * 950}))
        )
        first.start()
        in_flight = "headwater_rest_produce_bytes_in_flight 1"
        wait_for(lambda: in_flight in rest.request("GET", "/metrics").raw.decode())
        refused = rest.produce(topic, "json", {"value": 1})
        assert (refused.status, refused.body["error_code"]) == (429, 42901)
        assert refused.headers["retry-after"] == "1"
        first.join()
        assert answers[0].body["offsets"][0]["error_code"] == 50003
        rest.stop()
