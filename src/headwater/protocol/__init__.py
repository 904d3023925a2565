"""Kafka's wire protocol: frames, codecs and error codes; it knows nothing of files or sockets."""

from headwater.protocol.api_keys import ADVERTISED, SERVED, ApiKey, VersionRange
from headwater.protocol.errors import ErrorCode, KafkaError, ProtocolError

__all__ = [
    "ADVERTISED",
    "SERVED",
    "ApiKey",
    "ErrorCode",
    "KafkaError",
    "ProtocolError",
    "VersionRange",
]
