"""Where a response says how long its client has to wait, in every served version.

Only a broker with quotas needs this, and only for clients that are above theirs. So responses are
encoded without it, and the time is put into the bytes of the few that need it.
"""

from collections.abc import Callable
from struct import Struct

from headwater.protocol.api_keys import SERVED, ApiKey, is_flexible
from headwater.protocol.primitives import read_int32, read_uvarint

_INT32 = Struct(">i")
_API = Struct(">hhh")


def with_throttle_time(api_key: ApiKey, version: int, body: bytes, milliseconds: int) -> bytes:
    """Return a response with its `throttle_time_ms` set, where that version has one."""
    if version not in SERVED[api_key] or version < _FIRST_VERSION.get(api_key, 0):
        return body
    position = _POSITION.get(api_key, _at_the_start)(version, body)
    after = position + _INT32.size
    return body[:position] + _INT32.pack(milliseconds) + body[after:]


_NEVER = 1 << 15

_FIRST_VERSION: dict[ApiKey, int] = {
    ApiKey.LIST_OFFSETS: 2,
    ApiKey.METADATA: 3,
    ApiKey.OFFSET_COMMIT: 3,
    ApiKey.OFFSET_FETCH: 3,
    ApiKey.FIND_COORDINATOR: 1,
    ApiKey.JOIN_GROUP: 2,
    ApiKey.HEARTBEAT: 1,
    ApiKey.LEAVE_GROUP: 1,
    ApiKey.SYNC_GROUP: 1,
    ApiKey.DESCRIBE_GROUPS: 1,
    ApiKey.LIST_GROUPS: 1,
    ApiKey.API_VERSIONS: 1,
    ApiKey.SASL_HANDSHAKE: _NEVER,
    ApiKey.SASL_AUTHENTICATE: _NEVER,
    ApiKey.WRITE_TXN_MARKERS: _NEVER,
}
"""The first version that can say it, of those APIs in which that is not the first served one."""


def _at_the_start(_version: int, _body: bytes) -> int:
    return 0


def _after_the_topics(version: int, body: bytes) -> int:
    # It is the last field, and no tagged field is written behind it.
    tags = 1 if is_flexible(ApiKey.PRODUCE, version) else 0
    return len(body) - tags - _INT32.size


def _after_the_apis(version: int, body: bytes) -> int:
    after_error_code, view = 2, memoryview(body)
    if is_flexible(ApiKey.API_VERSIONS, version):
        count, position = read_uvarint(view, after_error_code, "api_keys")
        return position + (count - 1) * (_API.size + 1)
    count, position = read_int32(view, after_error_code, "api_keys")
    return position + count * _API.size


def _at_the_end_of_a_token(version: int, body: bytes) -> int:
    tags = 1 if is_flexible(ApiKey.CREATE_DELEGATION_TOKEN, version) else 0
    return len(body) - tags - _INT32.size


def _after_the_error_code(_version: int, _body: bytes) -> int:
    return 2


_POSITION: dict[ApiKey, Callable[[int, bytes], int]] = {
    ApiKey.PRODUCE: _after_the_topics,
    ApiKey.API_VERSIONS: _after_the_apis,
    ApiKey.OFFSET_DELETE: _after_the_error_code,
    # All four become flexible with the same version.
    ApiKey.CREATE_DELEGATION_TOKEN: _at_the_end_of_a_token,
    ApiKey.RENEW_DELEGATION_TOKEN: _at_the_end_of_a_token,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _at_the_end_of_a_token,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: _at_the_end_of_a_token,
}
"""Where it is not the first field."""
