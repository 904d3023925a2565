"""State in a topic on a real broker: its leader is killed, or replaced in the middle of a write."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from tests.integration import topic_state_worker
from tests.integration.registry_fixtures import read_topic, write_topic
from tests.integration.topic_state_worker import LastValues, make_member, write_when_leading
from tests.server_process import ServerProcess
from tests.waiting import HUNG_AFTER_S

from headwater.topic_state.errors import NotLeaderError, RecordTooLargeError, TopicError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from confluent_kafka.admin import AdminClient

    from headwater.topic_state.member import Member

URL = "http://worker"


class WorkerProcess(ServerProcess):
    """The worker; it is ready when it leads and has written a little."""

    name = "worker"
    ready = re.compile("wrote 20$", re.MULTILINE)

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__()
        self._arguments = [servers, topic, URL]

    def command_line(self) -> list[str]:
        return [sys.executable, "-m", topic_state_worker.__name__, *self._arguments]

    def listens(self, said: re.Match[str]) -> None:
        """It does not."""

    @property
    def written(self) -> dict[bytes, bytes]:
        """What it was told is safe."""
        numbers = re.findall(r"^wrote (\d+)$", self.text, re.MULTILINE)
        return {f"key-{number}".encode(): number.encode() for number in numbers}


@asynccontextmanager
async def started(member: Member) -> AsyncIterator[Member]:
    try:
        await member.start()
        yield member
    finally:
        await member.stop()


def test_a_leader_that_is_killed_is_replaced_and_nothing_is_lost(
    bootstrap_servers: str, topic: str
) -> None:
    worker = WorkerProcess(bootstrap_servers, topic).start()

    async def go_on() -> None:
        state = LastValues()
        async with started(make_member(state, bootstrap_servers, topic, "http://other")) as member:
            writer = member.writer
            assert state.values.keys() >= {b"key-0", b"key-20"}  # all that was there at the start
            assert (writer.is_leader, writer.leader_url) == (False, URL)
            with pytest.raises(NotLeaderError):
                await writer.leading().__aenter__()
            former = writer.leadership.tenure
            worker.kill()
            await write_when_leading(member, b"mine", b"1")
            assert (writer.is_leader, writer.leader_url) == (True, None)
            assert writer.leadership.tenure == (former.epoch + 1, writer.name)
            assert state.values.items() >= {**worker.written, b"mine": b"1"}.items()

            # What the former leader had on its way counts for nobody, and is undone.
            for key in (b"key-0", b"late"):
                await asyncio.to_thread(
                    write_topic, bootstrap_servers, [(key, b"late")], topic, former.headers()
                )
            async with writer.leading():
                assert state.values[b"key-0"] == b"0"
                assert b"late" not in state.values
        last = {each.key: each.value for each in read_topic(bootstrap_servers, topic)}
        assert (last[b"key-0"], last[b"late"], last[b"mine"]) == (b"0", None, b"1")

    try:
        asyncio.run(asyncio.wait_for(go_on(), HUNG_AFTER_S))
    finally:
        if worker.running:
            worker.kill()


def test_a_leader_that_is_replaced_while_it_writes_is_fenced(
    bootstrap_servers: str, topic: str
) -> None:
    """Both think that they were elected, as after a pause; the log decides."""

    async def race() -> None:
        states = [LastValues(), LastValues()]
        async with AsyncExitStack() as stack:
            former, later = [
                await stack.enter_async_context(
                    started(
                        make_member(state, bootstrap_servers, topic, "http://x", may_lead=False)
                    )
                )
                for state in states
            ]
            former.writer.set_should_lead(True)
            async with former.writer.leading():
                await former.writer.write([(b"key", b"former")])
                later.writer.set_should_lead(True)
                async with later.writer.leading():
                    await later.writer.write([(b"key", b"later")])
                with pytest.raises(NotLeaderError, match="what was written is void"):
                    await former.writer.write([(b"key", b"too late")])
            assert not former.writer.is_leader
            async with later.writer.leading():  # writes anew what was overwritten
                pass
            await former.writer.catch_up()
            assert [state.values for state in states] == [{b"key": b"later"}] * 2
            with pytest.raises(RecordTooLargeError, match=r"max\.message\.bytes"):
                async with later.writer.leading():
                    await later.writer.write([(b"key", b"x" * 2_000_000)])
            assert later.writer.is_leader  # nothing of it can come in later
        values = [each.value for each in read_topic(bootstrap_servers, topic) if each.value]
        assert values == [b"former", b"later", b"too late", b"later"]

    asyncio.run(asyncio.wait_for(race(), HUNG_AFTER_S))


def test_an_unfit_topic_is_refused(bootstrap_servers: str, topic: str, admin: AdminClient) -> None:
    from confluent_kafka.admin import NewTopic

    for name, partitions, policy, complaint in (
        (f"{topic}-wide", 3, "compact", "has 3 partitions, but the order of values needs one"),
        (f"{topic}-forgetful", 1, "delete", "has cleanup.policy=delete, which will lose values"),
    ):
        new = NewTopic(name, partitions, 1, config={"cleanup.policy": policy})
        admin.create_topics([new])[name].result()

        async def start(name: str = name) -> None:
            async with started(make_member(LastValues(), bootstrap_servers, name, "http://x")):
                pass

        with pytest.raises(TopicError, match=complaint):
            asyncio.run(start())
