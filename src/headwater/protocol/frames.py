"""What goes around every message: the frame's size and the headers of requests and responses."""

from struct import Struct
from typing import NamedTuple

from headwater.protocol.api_keys import SERVED, ApiKey, is_flexible
from headwater.protocol.encodings import LEGACY
from headwater.protocol.primitives import ProtocolError, skip_tagged_fields, unpack

_SIZE = Struct(">i")
_REQUEST = Struct(">hhi")
_RESPONSE = Struct(">i")
_FLEXIBLE_RESPONSE = Struct(">ix")  # the pad byte is the count of tagged fields: none
_API_KEYS = {int(key): key for key in ApiKey}
# To look up a member of an enumeration runs Python, which each request would pay for.
_API_VERSIONS = ApiKey.API_VERSIONS
_NEWEST_API_VERSIONS = SERVED[_API_VERSIONS].max


class RequestHeader(NamedTuple):
    """Who asks for what, and where in the frame the body starts."""

    api_key: ApiKey
    api_version: int
    correlation_id: int
    client_id: str | None
    body: int


def frame_size(prefix: memoryview, max_size: int) -> int:
    """Read the four bytes before a frame; a size that no honest client sends is refused."""
    (size,) = unpack(_SIZE, prefix, 0, "frame size")
    if not _REQUEST.size <= size <= max_size:
        raise ProtocolError(
            f"frame size: {size} is not between {_REQUEST.size} and the {max_size} bytes that "
            "socket.request.max.bytes allows"
        )
    return int(size)


def parse_request_header(view: memoryview) -> RequestHeader:
    """Read the header of a frame without its size prefix.

    The API is one that Kafka has; whether this version of it is served is for the caller to check.
    """
    key, version, correlation_id = unpack(_REQUEST, view, 0, "request header")
    api_key = _API_KEYS.get(key)
    if api_key is None:
        raise ProtocolError(f"api_key: {key} is not one of Kafka's")
    client_id, position = LEGACY.read_nullable_string(view, _REQUEST.size, "client_id")
    # A newer client may greet with an ApiVersions that we know nothing of, header included, and
    # is to be told so in a way that it understands.
    from_the_future = api_key is _API_VERSIONS and version > _NEWEST_API_VERSIONS
    if is_flexible(api_key, version) and not from_the_future:
        position = skip_tagged_fields(view, position, "request header's tagged fields")
    return RequestHeader(api_key, version, correlation_id, client_id, position)


def response_header(api_key: ApiKey, version: int, correlation_id: int) -> bytes:
    """Write the header of a response, without the size of the frame."""
    # A client reads the answer to its ApiVersions before it knows which versions the two of them
    # share, so that header is the same in all of them.
    if is_flexible(api_key, version) and api_key is not _API_VERSIONS:
        return _FLEXIBLE_RESPONSE.pack(correlation_id)
    return _RESPONSE.pack(correlation_id)
