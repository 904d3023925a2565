"""The topic is shared: what other registries wrote is read, and what this one writes is theirs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.integration.registry_fixtures import read_topic, record, schema_record, write_topic
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.broker_process import BrokerProcess

OTHER = '{"type":"record","name":"R","fields":[{"name":"b","type":"string"}]}'
STRING = '{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}'


def test_what_is_written_is_confluents_format(start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    registry = RegistryProcess(broker.bootstrap_servers).start()
    registry.register("s", STRING)
    registry.register(":.x:t", record("R"), normalize=True)
    registry.request("PUT", "/config", {"compatibility": "FULL"})
    registry.request("PUT", "/config/s", {"compatibility": "NONE"})
    registry.request("PUT", "/mode/s", {"mode": "READWRITE"})
    registry.request("DELETE", "/mode/s")
    registry.request("DELETE", "/subjects/s/versions/1")
    registry.register("s", record("R", "b"))
    registry.request("DELETE", "/subjects/s")
    registry.request("DELETE", "/subjects/s?permanent=true")
    registry.stop()
    found = [
        (key.decode() if key else None, value.decode() if value is not None else None)
        for _, key, value in read_topic(broker.bootstrap_servers)
    ]
    s1 = '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'
    s2 = '{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}'
    noop = '{"keytype":"NOOP","magic":0}'
    escaped = json.dumps(STRING)
    assert [each for each in found if each[0] != noop] == [
        (s1, f'{{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":{escaped},'
             '"deleted":false}'),
        ('{"keytype":"CONTEXT","tenant":"default","context":".x","magic":0}',
         '{"tenant":"default","context":".x"}'),
        ('{"keytype":"SCHEMA","subject":":.x:t","version":1,"magic":1}',
         '{"subject":":.x:t","version":1,"id":1,"schemaType":"AVRO",'
         '"schema":"{\\"type\\":\\"record\\",\\"name\\":\\"R\\",\\"fields\\":[]}",'
         '"deleted":false}'),
        ('{"keytype":"CONFIG","magic":0}', '{"compatibilityLevel":"FULL"}'),
        ('{"keytype":"CONFIG","subject":"s","magic":0}',
         '{"subject":"s","compatibilityLevel":"NONE"}'),
        ('{"keytype":"MODE","subject":"s","magic":0}', '{"subject":"s","mode":"READWRITE"}'),
        ('{"keytype":"MODE","subject":"s","magic":0}', None),
        (s1, f'{{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":{escaped},'
             '"deleted":true}'),
        (s2, '{"subject":"s","version":2,"id":2,"schemaType":"AVRO",'
             f'"schema":{json.dumps(OTHER)},'
             '"deleted":false}'),
        ('{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}', '{"subject":"s","version":2}'),
        (s2, None),
        (s1, None),
        ('{"keytype":"CONFIG","subject":"s","magic":0}', None),
    ]  # fmt: skip
    assert all(value is None for key, value in found if key == noop)


def test_what_others_wrote_is_read(start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    creating = RegistryProcess(broker.bootstrap_servers).start()  # makes the topic as it should be
    creating.stop()
    write_topic(
        broker.bootstrap_servers,
        [
            # Confluent's, of several ages.
            (b'{"keytype":"SUBJECT_LEVEL_SOMETHING","magic":0}', b"{}"),
            (b'{"keytype":"NOOP","magic":0}', b"null"),
            schema_record("confluent", 1, 10, STRING),
            (b'{"magic":1,"keytype":"SCHEMA","subject":"old","version":1}',
             b'{"subject":"old","version":1,"id":11,"schema":"\\"string\\""}'),
            # Karapace's: other order, other spelling of what is not there.
            (b'{"keytype":"CONFIG","subject":null,"magic":0}', b'{"compatibilityLevel":"FULL"}'),
            (b'{"keytype":"SCHEMA","subject":"karapace","version":1,"magic":1}',
             b'{"subject":"karapace","version":1,"id":12,"schema":"{\\"type\\":\\"object\\"}",'
             b'"deleted":false,"schemaType":"JSON"}'),
            (b'{"keytype":"DELETE_SUBJECT","subject":"old","magic":0}',
             b'{"subject":"old","version":1}'),
            (b'{"keytype":"MODE","subject":"confluent","magic":0}', b'{"mode":"READONLY"}'),
        ],
    )  # fmt: skip
    registry = RegistryProcess(broker.bootstrap_servers).start()
    assert registry.get("/subjects") == ["confluent", "karapace"]
    assert registry.get("/subjects?deletedOnly=true") == ["old"]
    assert registry.get("/config") == {"compatibilityLevel": "FULL"}
    assert registry.get("/mode/confluent") == {"mode": "READONLY"}
    assert registry.get("/schemas/ids/12")["schemaType"] == "JSON"
    assert registry.register("new", record("New")) == 13
    # One that is written while this one runs counts as well, before anything new is decided.
    write_topic(broker.bootstrap_servers, [schema_record("late", 1, 14, record("Late"))])
    assert registry.register("newer", record("Newer")) == 15
    assert registry.get("/subjects/late/versions") == [1]
    registry.stop()


def test_a_restart_changes_nothing(start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    registry = RegistryProcess(broker.bootstrap_servers).start()
    for number in range(20):
        registry.register(
            f"s{number % 7}", record("R", *[f"f{each}" for each in range(20 - number)])
        )
    registry.request("DELETE", "/subjects/s3/versions/1")
    registry.request("DELETE", "/subjects/s4")
    registry.request("PUT", "/config/s1", {"compatibility": "FULL", "alias": "s2"})
    paths = ["/subjects?deleted=true", "/schemas?deleted=true", "/config/s1", "/contexts"]
    before = [registry.get(path) for path in paths]
    registry.stop()
    broker.restart()
    registry.bootstrap_servers = broker.bootstrap_servers
    registry.start()
    assert [registry.get(path) for path in paths] == before
    assert registry.register("next", record("Next")) == 21
    registry.stop()
