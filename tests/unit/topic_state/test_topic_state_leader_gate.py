"""Requests that write: handled while leading, else by the leader, and twice only where allowed."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from headwater.http.answers import Answer
from headwater.http.forwarding import FORWARDED, LeaderUnreachableError
from headwater.topic_state.errors import NotLeaderError, TopicStateError
from headwater.topic_state.leader_gate import LeaderGate, Refusals
from headwater.topic_state.leadership import Tenure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from headwater.http.request import Request

HERE, THERE, NOBODY = Answer(b"here"), Answer(b"there"), Answer(b"no leader", 503)


class RefusedError(Exception):
    """A service's own answer."""


REFUSALS = Refusals(
    no_leader=lambda reason: RefusedError(f"no leader: {reason}"),
    no_answer=lambda reason: RefusedError(f"no answer: {reason}"),
    state_failed=lambda failure: RefusedError(f"state: {failure}"),
    is_no_leader=lambda answer: answer.status == 503,
)


class Group:
    """A group's writer as the gate sees it, with a leader that the test chooses."""

    def __init__(self, leader: str | None) -> None:
        self.leader_url = leader
        self.should_lead = leader == "me"
        self.leadership = self
        self.caught_up = 0
        self._changed = asyncio.Event()

        self.tenure = Tenure(1, leader or "")

    def elect(self, leader: str) -> None:
        self.leader_url, self.should_lead = leader, leader == "me"
        self.tenure = Tenure(self.tenure.epoch + 1, leader)
        self._changed.set()

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[None]:
        if not self.should_lead:
            raise NotLeaderError("another leads")
        yield

    async def wait_for_change(self, timeout_s: float) -> None:
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), timeout_s)
        except TimeoutError:
            return

    async def catch_up(self) -> None:
        self.caught_up += 1


class Others:
    """Other instances, asked for what the test says; None is one that hangs."""

    def __init__(self, **answers: Answer | LeaderUnreachableError | None) -> None:
        self._answers = answers
        self.asked: list[str] = []
        self.on_asked: Callable[[], None] = lambda: None
        self.until_answered = asyncio.Event()
        self.until_answered.set()

    async def ask(self, url: str, _request: Request) -> Answer:
        self.asked.append(url)
        asyncio.get_running_loop().call_soon(self.on_asked)
        await self.until_answered.wait()
        answer = self._answers[url]
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        return cast("Answer", answer)


class Asked:
    """A request with these headers."""

    def __init__(self, *headers: bytes) -> None:
        self.headers = dict.fromkeys(headers, b"true")


def handle(
    group: Group, others: Others, *headers: bytes, patience_s: float = 60.0, **how: Any
) -> Any:
    async def act() -> Answer:
        return HERE

    gate = LeaderGate(cast("Any", group), cast("Any", others), REFUSALS, patience_s)
    return asyncio.run(gate.handle(cast("Any", Asked(*headers)), act, **how))


def test_the_leader_does_it_itself() -> None:
    others = Others()
    assert handle(Group("me"), others) is HERE
    assert others.asked == []


def test_another_is_asked_and_what_it_wrote_is_read() -> None:
    group, others = Group("a"), Others(a=THERE)
    assert handle(group, others) is THERE
    assert group.caught_up == 1


def test_what_was_passed_on_already_is_not_passed_on_again() -> None:
    with pytest.raises(RefusedError, match="no leader: this one does not lead"):
        handle(Group("a"), Others(a=THERE), FORWARDED)


def test_the_next_leader_is_asked_when_one_has_lost_the_lead() -> None:
    group, others = Group("a"), Others(a=NOBODY, b=THERE)
    others.on_asked = lambda: group.elect("b")
    assert handle(group, others) is THERE
    assert others.asked == ["a", "b"]


def test_a_leader_that_was_elected_again_has_time_to_answer() -> None:
    group, others = Group("a"), Others(a=THERE)
    others.until_answered.clear()

    def elected_again() -> None:
        group.elect("a")
        asyncio.get_running_loop().call_later(0.1, others.until_answered.set)

    others.on_asked = elected_again
    assert handle(group, others) is THERE


def test_a_leader_that_cannot_be_reached_was_not_asked() -> None:
    group, others = Group("a"), Others(a=LeaderUnreachableError("refused", was_sent=False))
    others.on_asked = lambda: group.elect("me")
    assert handle(group, others) is HERE


@pytest.mark.parametrize("answer", [LeaderUnreachableError("broke off", was_sent=True), None])
def test_what_may_have_been_done_is_done_again_only_if_that_is_the_same(answer: Any) -> None:
    for may_repeat in (True, False):
        group, others = Group("a"), Others(a=answer)
        others.on_asked = lambda group=group: group.elect("me")  # type: ignore[misc]
        if may_repeat:
            assert handle(group, others, may_repeat=True) is HERE
        else:
            with pytest.raises(RefusedError, match=r"no answer: (broke off|a was replaced)"):
                handle(group, others)


def test_patience_has_an_end() -> None:
    for leader, reason in ((None, "no instance has the lead"), ("a", "a does not lead any more")):
        with pytest.raises(RefusedError, match=f"no leader: {reason}"):
            handle(Group(leader), Others(a=NOBODY), patience_s=0.05)


def test_kafka_that_does_not_take_it_is_told_in_the_services_words() -> None:
    async def act() -> Answer:
        raise TopicStateError("the disk is full")

    gate = LeaderGate(cast("Any", Group("me")), cast("Any", Others()), REFUSALS, 1)
    with pytest.raises(RefusedError, match="state: the disk is full"):
        asyncio.run(gate.handle(cast("Any", Asked()), act))
