"""A request, the rights that it takes, and the errors without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.protocol.api_keys import ApiKey

CLUSTER = "CLUSTER kafka-cluster"
TOPIC, GROUP, TRANSACTIONAL_ID = "TOPIC t", "GROUP g", "TRANSACTIONAL_ID x"

NO_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
NO_TRANSACTIONAL_ID = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


class Case(NamedTuple):
    """A request, all that is asked for it, and the errors of somebody who may do nothing.

    No errors means that the answer leaves out what the client may not see.
    """

    api_key: ApiKey
    version: int
    tree: dict[str, Any]
    asks: set[str]
    errors: set[ErrorCode]


def named(by: str = "name", **more: Any) -> list[dict[str, Any]]:
    return [{by: "t", **more}]
