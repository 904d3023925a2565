"""ApiVersions, v0 to v4: the greeting in which client and broker find the versions they share."""

import re
from collections.abc import Mapping, Sequence
from struct import Struct
from typing import NamedTuple

from headwater.protocol.api_keys import ADVERTISED, SERVED, ApiKey, VersionRange
from headwater.protocol.encodings import COMPACT
from headwater.protocol.errors import ErrorCode
from headwater.protocol.primitives import (
    skip_tagged_fields,
    write_int16,
    write_int32,
    write_int64,
    write_tagged_fields,
)

_FLEXIBLE = 3
_FEATURES_FROM_ZERO = 4
_API = Struct(">hhh")
_FEATURE = Struct(">hhx")
_SOFTWARE = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?")


class ApiVersionsRequest(NamedTuple):
    """Which software greets; empty before v3."""

    client_software_name: str = ""
    client_software_version: str = ""

    def is_valid(self, version: int) -> bool:
        """Whether name and version look as Kafka wants them; if not, INVALID_REQUEST."""
        return version < _FLEXIBLE or (
            _SOFTWARE.fullmatch(self.client_software_name) is not None
            and _SOFTWARE.fullmatch(self.client_software_version) is not None
        )


class SupportedFeature(NamedTuple):
    """The levels of a feature that this broker could run at."""

    name: str
    min_version: int
    max_version: int


class FinalizedFeature(NamedTuple):
    """The levels of a feature that the cluster runs at."""

    name: str
    min_version_level: int
    max_version_level: int


def decode_request(version: int, view: memoryview, position: int = 0) -> ApiVersionsRequest:
    """Read the body of a request of a served version."""
    if version < _FLEXIBLE:
        return ApiVersionsRequest()
    name, position = COMPACT.read_string(view, position, "client_software_name")
    software_version, position = COMPACT.read_string(view, position, "client_software_version")
    skip_tagged_fields(view, position, "tagged fields")
    return ApiVersionsRequest(name, software_version)


def encode_response(
    version: int,
    apis: Mapping[ApiKey, VersionRange] = ADVERTISED,
    *,
    error_code: int = ErrorCode.NONE,
    throttle_ms: int = 0,
    supported_features: Sequence[SupportedFeature] = (),
    finalized_features_epoch: int = -1,
    finalized_features: Sequence[FinalizedFeature] = (),
) -> bytes:
    """Write a body for a request of a served version."""
    flexible = version >= _FLEXIBLE
    end = b"\x00" if flexible else b""
    length = COMPACT.write_array_length(len(apis)) if flexible else write_int32(len(apis))
    parts = [write_int16(error_code), length]
    parts += (_API.pack(key, least, most) + end for key, (least, most) in sorted(apis.items()))
    if version >= 1:
        parts.append(write_int32(throttle_ms))
    if flexible:
        # Clients of v3 take a feature that starts at level 0 for a malformed one.
        known = [
            feature
            for feature in supported_features
            if feature.min_version > 0 or version >= _FEATURES_FROM_ZERO
        ]
        tags = {}
        if known:
            tags[0] = _encode_features(known)
        if finalized_features_epoch >= 0:
            tags[1] = write_int64(finalized_features_epoch)
        if finalized_features:
            tags[2] = _encode_features(
                [(name, high, low) for name, low, high in finalized_features]
            )
        parts.append(write_tagged_fields(tags))
    return b"".join(parts)


def encode_unsupported_version() -> bytes:
    """Write the answer to a version that is not served: a v0 body that says which ones are."""
    own = {ApiKey.API_VERSIONS: SERVED[ApiKey.API_VERSIONS]}
    return encode_response(0, own, error_code=ErrorCode.UNSUPPORTED_VERSION)


def _encode_features(features: Sequence[tuple[str, int, int]]) -> bytes:
    parts = [COMPACT.write_array_length(len(features))]
    for name, first, second in features:
        parts += COMPACT.write_string(name), _FEATURE.pack(first, second)
    return b"".join(parts)
