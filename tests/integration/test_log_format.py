"""A service's whole log as JSON, from its first line to its last."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.broker_process import BrokerProcess
from tests.integration.raw_client import RawClient

if TYPE_CHECKING:
    from pathlib import Path


class JsonBroker(BrokerProcess):
    """Told by the option that stands before all commands."""

    def command_line(self) -> list[str]:
        *python, broker, port, number, data, folder = super().command_line()
        return [*python, "--log-format", "json", broker, port, number, data, folder]


def test_every_line_of_a_broker_is_an_object(tmp_path: Path) -> None:
    broker = JsonBroker(tmp_path).start()
    broker.stop()
    lines = [json.loads(line) for line in broker.text.splitlines()]
    assert "listening on" in lines[0]["message"]
    assert (lines[-1]["level"], lines[-1]["message"]) == ("INFO", "stopped")
    assert {line["logger"] for line in lines} == {"headwater.broker"}


def test_the_name_of_a_topic_is_no_line_of_the_log(tmp_path: Path) -> None:
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    broker = BrokerProcess(tmp_path, {"authorizer.class.name": authorizer}).start()
    forged = "2026-01-01 00:00:00,000 INFO stopped"
    with RawClient(broker) as client:
        client.call("metadata", 9, topics=[{"name": f"mine\r\n{forged}"}])
    assert broker.says(rf"no DESCRIBE on TOPIC mine\r\n{forged}")
    assert not any(line.startswith(forged) for line in broker.output)
    broker.stop()
