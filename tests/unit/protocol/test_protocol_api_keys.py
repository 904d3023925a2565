from __future__ import annotations

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map

from headwater.protocol.api_keys import (
    ADVERTISED,
    SERVED,
    ApiKey,
    VersionRange,
    is_flexible,
    is_served,
)

ALL_VERSIONS = [
    (ApiKey(key), version) for key, name in api_key_map.items() for version in schema_name_map[name]
]


def test_serves_the_log_and_its_administration() -> None:
    promised = {
        "PRODUCE": (3, 13),
        "FETCH": (4, 18),
        "LIST_OFFSETS": (1, 11),
        "METADATA": (0, 13),
        "API_VERSIONS": (0, 4),
        "CREATE_TOPICS": (2, 7),
        "DELETE_TOPICS": (1, 6),
        "DELETE_RECORDS": (0, 2),
        "CREATE_PARTITIONS": (0, 3),
        "DESCRIBE_CONFIGS": (1, 4),
        "ALTER_CONFIGS": (0, 2),
        "INCREMENTAL_ALTER_CONFIGS": (0, 1),
        "DESCRIBE_CLUSTER": (0, 2),
        "DESCRIBE_TOPIC_PARTITIONS": (0, 0),
        "OFFSET_FOR_LEADER_EPOCH": (2, 4),
        "DESCRIBE_LOG_DIRS": (1, 5),
        "LIST_CONFIG_RESOURCES": (0, 1),
        "ELECT_LEADERS": (0, 2),
        "LIST_PARTITION_REASSIGNMENTS": (0, 0),
    }
    served = {key.name: tuple(versions) for key, versions in SERVED.items()}
    assert {name: served.get(name) for name in promised} == promised


def test_advertises_the_produce_versions_that_librdkafka_looks_for() -> None:
    assert ADVERTISED[ApiKey.PRODUCE] == VersionRange(0, 13)
    assert {**ADVERTISED, ApiKey.PRODUCE: SERVED[ApiKey.PRODUCE]} == SERVED


@pytest.mark.parametrize("version", [0, 1, 2, 14, -1])
def test_refuses_other_versions_of_produce(version: int) -> None:
    assert not is_served(ApiKey.PRODUCE, version)


def test_refuses_apis_without_a_handler() -> None:
    assert is_served(ApiKey.PRODUCE, 3)
    assert not is_served(ApiKey.CONTROLLED_SHUTDOWN, 0)


def test_every_served_version_is_one_that_kafka_has() -> None:
    for key, versions in SERVED.items():
        served = {(key, version) for version in range(versions.min, versions.max + 1)}
        assert served
        assert served <= set(ALL_VERSIONS)


def test_knows_which_versions_are_flexible() -> None:
    for key, version in ALL_VERSIONS:
        assert is_flexible(key, version) == load_request_schema(key, version).__flexible__
        assert is_flexible(key, version) == load_response_schema(key, version).__flexible__


def test_names_the_keys_as_kafka_does() -> None:
    for key, name in api_key_map.items():
        assert ApiKey(key).name == name.upper()
