"""A member of a share group, which no client library in Python can be yet."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any, Self

from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.clients.connection import Connection
from headwater.clients.raw.admin import Node, RawAdmin, check
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from types import TracebackType

_EVERY_S = 3.0
_JOIN, _LEAVE = 0, -1
# What a coordinator says while it is being found, and while it comes up.
_PASSING = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)


class ShareMember:
    """Is in the group, and says so to its coordinator, for as long as the block lasts."""

    def __init__(self, bootstrap_servers: str, group: str, topic: str) -> None:
        self._admin = RawAdmin(Connection(ClusterAccess(bootstrap_servers)))
        self._group = group
        self._topic = topic
        # Kafka's ids of members are UUIDs in Base64.
        self._id = str(uuid.uuid4())
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._stay, daemon=True)

    def __enter__(self) -> Self:
        self._epoch = wait_for(self._join).member_epoch
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._heartbeat(_LEAVE)

    def start_at(self, offset: int) -> None:
        """Move the group, which must have no members, to an offset of its topic's partition 0."""
        partition = {"partition_index": 0, "start_offset": offset}
        topics = [{"topic_name": self._topic, "partitions": [partition]}]
        body = {"group_id": self._group, "topics": topics}
        answer = self._admin.ask(self._coordinator(), ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, body)
        check(answer.error_code, f"moving the share group '{self._group}'")

    def _stay(self) -> None:
        while not self._stopping.wait(_EVERY_S):
            self._epoch = self._heartbeat(self._epoch).member_epoch

    def _join(self) -> Any:
        """Return the answer once there is one, and with it something to read."""
        answer = self._heartbeat(_JOIN)
        if answer.error_code in _PASSING:
            return None
        check(answer.error_code, f"joining the share group '{self._group}'")
        return answer

    def _heartbeat(self, epoch: int) -> Any:
        body = {
            "group_id": self._group,
            "member_id": self._id,
            "member_epoch": epoch,
            "rack_id": None,
            "subscribed_topic_names": [self._topic] if epoch == _JOIN else None,
        }
        return self._admin.ask(self._coordinator(), ApiKey.SHARE_GROUP_HEARTBEAT, 1, body)

    def _coordinator(self) -> Node:
        def found() -> Any:
            body = {"key": self._group, "key_type": 0}
            answer = self._admin.ask_any(ApiKey.FIND_COORDINATOR, 1, body)
            if answer.error_code in _PASSING:
                return None
            check(answer.error_code, f"finding the coordinator of '{self._group}'")
            return answer

        answer = wait_for(found)
        return Node(answer.node_id, answer.host, answer.port)
