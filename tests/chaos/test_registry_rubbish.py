"""A topic with rubbish in it: one line each, and everything else is there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.integration.registry_fixtures import record, schema_record, write_topic
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.broker_process import BrokerProcess

pytestmark = pytest.mark.chaos

RUBBISH: list[tuple[bytes | None, bytes | None]] = [
    (b"\x00\x01\x02", b"\xff"),
    (b"{", b"{}"),
    (b"[]", b"{}"),
    (b"5", None),
    (b'{"keytype":"SCHEMA"}', b"{}"),
    (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}', b""),
    (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}', b"{}"),
    (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":7}', b"{}"),
    (b'{"keytype":"SCHEMA","subject":"a","version":-1,"magic":1}',
     b'{"subject":"a","version":-1,"id":1,"schema":"x"}'),
    (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}',
     b'{"subject":"a","version":1,"id":"1","schema":"x"}'),
    (b'{"keytype":"CONFIG","subject":5}', b"{}"),
    (b'{"keytype":"CONFIG","subject":"s","magic":0}', b"[" * 100_000),
    (b'{"keytype":"MODE","magic":0}', b'{"mode":null}'),
    (os.urandom(100), os.urandom(5_000)),
    (b"x" * 500_000, b"y" * 100_000),
]  # fmt: skip


def test_rubbish_is_skipped_with_one_line_each(
    start_broker: Callable[..., BrokerProcess],
) -> None:
    broker = start_broker()
    registry = RegistryProcess(broker.bootstrap_servers).start()
    registry.register("before", record("Before"))
    registry.stop()
    write_topic(broker.bootstrap_servers, RUBBISH)
    # A schema that nobody can parse was registered by somebody: it is kept, and can be replaced.
    write_topic(broker.bootstrap_servers, [schema_record("broken", 1, 50, "not a schema at all")])
    registry.start()
    write_topic(broker.bootstrap_servers, RUBBISH)
    assert registry.register("after", record("After")) == 51
    assert registry.get("/subjects") == ["after", "before", "broken"]
    lines = [line for line in registry.text.splitlines() if "is skipped:" in line]
    assert len(lines) == 2 * len(RUBBISH)
    assert all(len(line) < 500 for line in lines)
    assert registry.get("/schemas/ids/50")["schema"] == "not a schema at all"
    refused = registry.try_register("broken", record("Better"))
    assert refused.body["error_code"] == 42201, refused
    registry.request("PUT", "/config/broken", {"compatibility": "NONE"})
    registry.register("broken", record("Better"))
    text = registry.request("GET", "/metrics").raw.decode()
    assert f"headwater_registry_skipped_records {2.0 * len(RUBBISH)}" in text
    registry.stop()


def test_two_schemas_with_one_id(start_broker: Callable[..., BrokerProcess]) -> None:
    """Another registry went wrong: the first keeps the id, and nothing else suffers."""
    broker = start_broker()
    registry = RegistryProcess(broker.bootstrap_servers).start()
    registry.register("first", record("First"))
    write_topic(broker.bootstrap_servers, [schema_record("second", 1, 1, record("Second"))])
    assert registry.register("third", record("Third")) == 2
    assert registry.get("/subjects") == ["first", "third"]
    assert registry.says("is ignored: its id 1 is already that of subject first")
    registry.stop()


def test_topics_that_cannot_be_used(start_broker: Callable[..., BrokerProcess]) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    broker = start_broker()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for topic in (
        NewTopic("wide", 3, 1, config={"cleanup.policy": "compact"}),
        NewTopic("forgetful", 1, 1, config={"cleanup.policy": "delete"}),
    ):
        admin.create_topics([topic])[topic.topic].result()
    for name, complaint in (
        ("wide", "has 3 partitions"),
        ("forgetful", "headwater configs alter --topic forgetful --add cleanup.policy=compact"),
    ):
        registry = RegistryProcess(broker.bootstrap_servers, ["--topic", name])
        with pytest.raises(AssertionError, match="did not come up"):
            registry.start()
        assert complaint in registry.text
        assert "Traceback" not in registry.text


def test_no_broker_is_said_clearly() -> None:
    with pytest.raises(AssertionError, match="no answer from Kafka at 127"):
        RegistryProcess("127.0.0.1:1", ["--property", "kafkastore.init.timeout.ms=2000"]).start()
