"""ApiVersions: the greeting that tells a client what this broker serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.metadata.features import (
    FEATURES_EPOCH,
    FINALIZED_FEATURES,
    SUPPORTED_FEATURES,
)
from headwater.protocol import api_versions as codec
from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response


def api_versions(broker: Broker, request: Request) -> Response:
    """List the served APIs; a version from the future is told which ones there are."""
    version = request.header.api_version
    if version not in SERVED[ApiKey.API_VERSIONS]:
        return codec.encode_unsupported_version()
    wanted = codec.decode_request(version, request.view, request.header.body)
    if not wanted.is_valid(version):
        return codec.encode_response(version, {}, error_code=ErrorCode.INVALID_REQUEST)
    if wanted.client_software_name:
        request.session.introduce(*wanted)
    return codec.encode_response(
        version,
        supported_features=SUPPORTED_FEATURES,
        finalized_features_epoch=FEATURES_EPOCH,
        finalized_features=FINALIZED_FEATURES,
    )
