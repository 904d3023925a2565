"""The story: people move, the tax department is told, and the agent is forgotten."""

from __future__ import annotations

import random
from itertools import count
from typing import TYPE_CHECKING

import click
from examples.stage import StoppedError
from examples.witness.people import AGENT, OTHERS, Event
from examples.witness.program import EVENTS, TAX_DEPARTMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from examples.witness.office import Office

COMPACTION = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "5000",
    "delete.retention.ms": "100",
    "file.delete.delay.ms": "100",
}
"""The lectures' settings, and tombstones and old files that go soon."""
_LOOK_S = 0.2


def connect(office: Office) -> None:
    """Let Connect read the register: in bulk, which is too much, then what is new."""
    office.register.enter(AGENT, Event.MOVE_IN)
    office.read_in_bulk()
    _until(office, lambda: len(office.records(EVENTS)) > 1)
    click.echo(f"bulk: 1 row is {len(office.records(EVENTS))} records, and more with each look")
    office.read_what_is_new()
    _until(office, lambda: any(each.key for each in office.records(EVENTS)))
    office.clean()


def move(office: Office, events: int) -> None:
    """Let people move, now and then the agent."""
    for number in range(events):
        person = AGENT if number % 4 == 0 else random.choice(OTHERS)
        office.register.enter(person, random.choice(tuple(Event)))


def see_each_once(office: Office) -> None:
    """See that each event has come through Connect and the program, once."""
    rows = office.register.rows()
    _each_once(office, EVENTS, [number for number, _, _ in rows])
    click.echo(f"incrementing: {len(rows)} rows are {len(rows)} records")
    moved_in = [number for number, _, event in rows if event is Event.MOVE_IN]
    _each_once(office, TAX_DEPARTMENT, moved_in)
    click.echo(f"the tax department was told of {len(moved_in)} who moved in")


def forget(office: Office) -> None:
    """Delete the agent, and see that nothing is left."""
    traces = (AGENT.identifier, AGENT.official_name)
    click.echo(f"the agent is in {len(office.files_with(*traces))} files")
    office.set_config(COMPACTION)
    office.forget(AGENT.identifier)
    for number in count():
        # A segment is closed, and then compacted, when a record comes after its time is over.
        office.register.enter(OTHERS[number % len(OTHERS)], Event.MOVE_IN)
        if not office.files_with(*traces):
            break
        office.look_after()
        if office.platform.stop.wait(1):
            raise StoppedError
    click.echo("the agent is in no file any more")


def _each_once(office: Office, topic: str, rows: Sequence[int]) -> None:
    def found() -> list[int | None]:
        return [each.row for each in office.records(topic)]

    _until(office, lambda: len(found()) >= len(rows))
    if found() != rows:
        raise click.ClickException(f"{topic} has the rows {found()}, the register has {rows}")


def _until(office: Office, has_come: Callable[[], bool]) -> None:
    while not has_come():
        office.look_after()
        if office.platform.stop.wait(_LOOK_S):
            raise StoppedError
