"""The console as a service: users, exports, read-only, health, metrics; its page in docs/."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
from confluent_kafka import Producer
from tests.console_process import ConsoleProcess
from tests.docs_page import ROOT, commands, run_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.http_process import Response


def _records(broker: BrokerProcess, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(1_200):
        producer.produce(topic, json.dumps({"id": number}), b"=1+1" if number == 7 else b"k")
    assert producer.flush(30) == 0


def _export(console: ConsoleProcess, path: str, media_type: str = "*/*") -> Response:
    return console.request("GET", path, headers={"Accept": media_type})


def _lines(answer: Response) -> list[str]:
    assert answer.status == 200, answer
    return answer.raw.decode().splitlines()


def test_users_and_exports(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann: secret\n")
    _records(broker, topic)
    options = ["--users", str(tmp_path / "users"), "--read-only"]
    console = ConsoleProcess(broker.bootstrap_servers, options).start()
    path = f"/api/topics/{topic}/records"

    assert console.request("GET", "/health").status == 200
    assert console.request("GET", "/metrics", headers={"Accept": "*/*"}).status == 401
    assert console.request("GET", path, headers={"Accept": "*/*"}).status == 401
    assert console.request("GET", "/topics").headers["location"] == "/login?to=%2Ftopics"

    console.user = ("ann", "secret")
    assert b"headwater_console_requests_total" in console.request("GET", "/metrics").raw
    assert "/api/topics/{topic}/records" in console.get("/openapi.json")["paths"]
    everything = _lines(_export(console, f"{path}?start=earliest&limit=5000"))
    assert [json.loads(line)["value"]["id"] for line in everything] == list(range(1_200))
    newest = _lines(_export(console, f"{path}?limit=2"))
    assert [json.loads(line)["offset"] for line in newest] == [1_199, 1_198]
    found = _lines(_export(console, f"{path}?where=value.id%20%3C%203"))
    assert len(found) == 3
    as_csv = _lines(_export(console, f"{path}?format=csv&start=7&limit=1", "text/csv"))
    assert as_csv[0] == "partition,offset,timestamp,key,value,headers"
    assert "'=1+1" in as_csv[1]  # what a spreadsheet would take for a formula
    picked = "columns=value.id,key,value.none&start=7&limit=1"
    as_csv = _lines(_export(console, f"{path}?format=csv&{picked}", "text/csv"))
    assert as_csv[0] == "partition,offset,timestamp,value.id,key,value.none"
    assert as_csv[1].startswith("0,7,")
    assert as_csv[1].endswith(",7,'=1+1,")
    (line,) = map(json.loads, _lines(_export(console, f"{path}?{picked}")))
    assert line.pop("timestamp") > 0
    assert line == {"topic": topic, "partition": 0, "offset": 7, "value.id": 7, "key": "=1+1"}
    misread = ("format=xml", "columns=offset", "limit=0", "start=middle", "where=x")
    for wrong in (*misread, "partition=7"):
        assert _export(console, f"{path}?{wrong}").status == 400, wrong

    with httpx.Client(base_url=console.url, follow_redirects=True) as person:
        form = {"name": "ann", "password": "secret", "to": f"/topics/{topic}"}
        page = person.post("/login", data=form)
        assert page.status_code == 200
        assert page.url.path == f"/topics/{topic}"
        assert "User:ann" in page.text
        assert "read only" in page.text
        assert "Produce" not in page.text
    console.stop()


def test_the_page_of_the_documentation(broker: BrokerProcess, tmp_path: Path) -> None:
    console = ConsoleProcess(broker.bootstrap_servers).start()
    examples = commands(ROOT / "docs/console.md")
    assert len(examples) == 8
    for command in examples:
        if command.line.startswith("headwater console"):
            continue  # it runs already, on another port
        moved = command.line.replace("http://localhost:9021", f"http://localhost:{console.port}")
        run_command(command._replace(line=moved), broker.bootstrap_servers, tmp_path)
    console.stop()
