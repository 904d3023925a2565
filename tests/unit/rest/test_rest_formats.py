"""Values inside the proxy's JSON, and codes of errors."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from headwater.rest.embedded_formats import BY_CONTENT_TYPE, EmbeddedFormat, encode_json, read_plain
from headwater.rest.errors import verdict_of


@pytest.mark.parametrize("value", [None, 1, 2**70, 1.5, "é", "\ud800", {"a": [1, {"b": None}]}])
def test_json_comes_back(value: object) -> None:
    assert read_plain(EmbeddedFormat.JSON, encode_json(value)) == value


def test_equal_keys_have_equal_bytes() -> None:
    assert encode_json({"a": [1, 2]}) == b'{"a":[1,2]}'


def test_content_types() -> None:
    assert BY_CONTENT_TYPE["application/vnd.kafka.jsonschema.v2+json"] is EmbeddedFormat.JSONSCHEMA
    assert len(BY_CONTENT_TYPE) == 5


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, (403, 40301)),
        (KafkaError.SECURITY_DISABLED, (400, 40002)),
        (KafkaError.NOT_LEADER_FOR_PARTITION, (500, 50003)),
        (KafkaError.INVALID_RECORD, (500, 50002)),
        (KafkaError.MSG_SIZE_TOO_LARGE, (413, 413)),
    ],
)
def test_codes_are_confluents(code: int, verdict: tuple[int, int]) -> None:
    assert verdict_of(KafkaError(code)) == verdict
