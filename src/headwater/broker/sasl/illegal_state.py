"""The answer to a request that comes while a client logs in, in the shape of that request's own.

Kafka gives it only between SaslHandshake and the end of the login: what comes before the handshake
closes the connection, and what comes after is served.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.schemas import response_schema

if TYPE_CHECKING:
    from headwater.protocol.frames import RequestHeader

_ERROR = ErrorCode.ILLEGAL_SASL_STATE
_SAID = "Request is not valid given the current SASL state."
_NOTHING = {"node_id": -1, "port": -1, "producer_epoch": -1}
"""What Kafka has where there is nothing to tell, beside the schemas' own defaults."""


def illegal_state(header: RequestHeader, view: memoryview) -> dict[str, Any] | None:
    """Return the answer; None for a request whose answer has no place for an error.

    Raises ProtocolError for a request that cannot be read, as far as it has to be.
    """
    api_key, version = header.api_key, header.api_version
    message = f"Unexpected Kafka request of type {api_key.name} during SASL authentication."
    if api_key is ApiKey.PRODUCE:
        return _of_produce(messages.decode_request(api_key, version, view, header.body), message)
    if api_key is ApiKey.METADATA:
        topics = messages.decode_request(api_key, version, view, header.body).topics or ()
        return {
            "error_code": _ERROR,
            "topics": [
                {"error_code": _ERROR, "name": topic.name, "partitions": []} for topic in topics
            ],
        }
    known = {field.name for field in fields(response_schema(api_key, version))}
    if "error_code" not in known:
        return None
    answer = {**_NOTHING, "error_code": _ERROR, "error_message": _SAID}
    return {name: value for name, value in answer.items() if name in known}


def _of_produce(request: Any, message: str) -> dict[str, Any] | None:
    if not request.acks:
        return None
    return {
        "responses": [
            {
                **_named(topic),
                "partition_responses": [
                    {
                        "index": partition.index,
                        "error_code": _ERROR,
                        "base_offset": -1,
                        "log_append_time_ms": -1,
                        "log_start_offset": -1,
                        "record_errors": [],
                        "error_message": message,
                    }
                    for partition in topic.partition_data
                ],
            }
            for topic in request.topic_data
        ]
    }


def _named(topic: Any) -> dict[str, Any]:
    named = {name: messages.field(topic, name) for name in ("name", "topic_id")}
    return {name: value for name, value in named.items() if value is not None}
