"""State in a topic in a process of its own, which writes one record after another while it leads.

Started with the brokers' address, a topic and its own URL. Prints "wrote N" once N is safe.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from headwater.topic_state.errors import InvalidRecordError, NotLeaderError
from headwater.topic_state.member import Member, MemberSettings
from headwater.topic_state.topic import StateTopic

if TYPE_CHECKING:
    from headwater.topic_state.leadership import Headers, Mark
    from headwater.topic_state.log import KeyValue, Record


class LastValues:
    """The last value of each key."""

    claim_key = b"leader"

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    def decode(self, record: Record) -> bytes:
        if record.key is None:
            raise InvalidRecordError("it has no key")
        return record.key

    def apply(self, decoded: bytes, record: Record, mark: Mark | None) -> None:
        if record.value is None:
            self.values.pop(decoded, None)
        else:
            self.values[decoded] = record.value

    def restoring(self, key: bytes) -> list[KeyValue]:
        return [(key, self.values.get(key))]

    def claim_headers(self) -> Headers:
        return []


def make_member(
    state: LastValues, servers: str, topic: str, url: str, *, may_lead: bool = True
) -> Member:
    """A member of the group that is called as the topic is."""
    return Member(
        state,
        MemberSettings(
            client={"bootstrap.servers": servers, "log_level": 0},
            topic=StateTopic(topic, 1, holds="values", setting="--topic"),
            group=topic,
            url=url,
            may_lead=may_lead,
            timeout_s=60,
            session_timeout_ms=6000,
        ),
    )


async def write_when_leading(member: Member, key: bytes, value: bytes) -> None:
    """Write a record as soon as this member leads."""
    while True:
        try:
            async with member.writer.leading():
                await member.writer.write([(key, value)])
            return
        except NotLeaderError:
            await member.writer.wait_for_change(1)


async def _work(servers: str, topic: str, url: str) -> None:
    member = make_member(LastValues(), servers, topic, url)
    await member.start()
    number = 0
    while True:
        await write_when_leading(member, b"key-%d" % number, b"%d" % number)
        sys.stdout.write(f"wrote {number}\n")
        sys.stdout.flush()
        number += 1


if __name__ == "__main__":
    asyncio.run(_work(*sys.argv[1:]))
