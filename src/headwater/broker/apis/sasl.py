"""SaslHandshake and SaslAuthenticate where they are out of place: on a listener without SASL.

On one with SASL they never get here; see `sasl/gate.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response


def sasl_handshake(broker: Broker, request: Request) -> Response:
    """Say that nobody logs in here."""
    tree = {"error_code": ErrorCode.ILLEGAL_SASL_STATE, "mechanisms": []}
    return messages.encode_response(ApiKey.SASL_HANDSHAKE, request.header.api_version, tree)


def sasl_authenticate(broker: Broker, request: Request) -> Response:
    """Say that nobody was asked."""
    tree = {
        "error_code": ErrorCode.ILLEGAL_SASL_STATE,
        "error_message": "SaslAuthenticate request received after successful authentication",
    }
    return messages.encode_response(ApiKey.SASL_AUTHENTICATE, request.header.api_version, tree)
