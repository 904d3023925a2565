"""The settings of a topic that is tried out, and what keeps a client from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from headwater.clients.raw.new_topic_configs import TopicRefusedError, new_topic_configs
from headwater.protocol.errors import ErrorCode
from headwater.protocol.messages import decode_response, encode_response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients.raw.admin import RawAdmin
    from headwater.protocol.api_keys import ApiKey


class Answering:
    """Has one answer, as it comes over the wire."""

    def __init__(self, **topic: Any) -> None:
        self._tree = {"topics": [{"name": "orders", "topic_id": bytes(16), **topic}]}

    def ask_any(self, api_key: ApiKey, version: int, _: Mapping[str, Any]) -> Any:
        encoded = encode_response(api_key, version, self._tree)
        return decode_response(api_key, version, memoryview(encoded))


def asked(**topic: Any) -> Any:
    return new_topic_configs(cast("RawAdmin", Answering(**topic)), "orders")


def test_settings_come_by_name() -> None:
    configs = [
        {"name": name, "value": "7", "config_source": 5, "read_only": False, "is_sensitive": False}
        for name in ("retention.ms", "cleanup.policy")
    ]
    assert [each.name for each in asked(configs=configs)] == ["cleanup.policy", "retention.ms"]


def test_a_refusal_has_its_code() -> None:
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    for answer, code, text in (
        ({"error_code": denied}, denied, "TOPIC_AUTHORIZATION_FAILED"),
        # Who may create and not see the settings.
        ({"topic_config_error_code": denied}, denied, "TOPIC_AUTHORIZATION_FAILED"),
        ({"error_code": 36, "error_message": "it is there"}, 36, "it is there"),
    ):
        with pytest.raises(TopicRefusedError, match=text) as refused:
            asked(**answer)
        assert refused.value.code == code
