"""Waits until a group's coordinator can be asked, which a moment after a broker's death it cannot.

librdkafka's admin client (2.16) ends the whole process with a failed assertion when the coordinator
that it is about to ask cannot be reached, or still loads the group's offsets. So it is asked only
when the coordinator was found to know the group.
"""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING

from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import Node, RawAdmin, UnansweredError, error_name
from headwater.clients.retries import PAUSE_S, RETRY_WITHIN_S
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.clients.connection import Connection

_GROUP = 0
# Old enough for any cluster.
_FIND_COORDINATOR_VERSION = 1
_OFFSET_FETCH_VERSION = 2
_PASSING = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def wait_for_coordinator(connection: Connection, group: str) -> None:
    """Return once a group's coordinator has answered; raises ClientError if that does not help."""
    deadline = time.monotonic() + RETRY_WITHIN_S
    while True:
        try:
            reason = _ask(connection, group)
        except UnansweredError as failure:
            reason = str(failure)
            if isinstance(failure.__cause__, ssl.SSLError):
                return
        except ClientError:
            # Key stores, Kerberos and the like are known to librdkafka alone, which has got in: it
            # has to do without this precaution.
            return
        if reason is None:
            return
        if time.monotonic() > deadline:
            raise ClientError(f"the group '{group}' has no coordinator: {reason}")
        time.sleep(PAUSE_S)


def _ask(connection: Connection, group: str) -> str | None:
    admin = RawAdmin(connection)
    found = admin.ask_any(
        ApiKey.FIND_COORDINATOR, _FIND_COORDINATOR_VERSION, {"key": group, "key_type": _GROUP}
    )
    if found.error_code == ErrorCode.NONE:
        node = Node(found.node_id, found.host, found.port)
        of_all_topics = {"group_id": group, "topics": None}
        found = admin.ask(node, ApiKey.OFFSET_FETCH, _OFFSET_FETCH_VERSION, of_all_topics)
    # What else there is to say of the group is said where it is asked for.
    return error_name(found.error_code) if found.error_code in _PASSING else None
