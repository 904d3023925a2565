"""What a checkpoint depends on: a program that changed in it cannot go on from there.

Stateless operators and sinks may change between two runs. What is read, and what is kept in state,
may not: the old offsets or the old state would mean something else.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from headwater.plan.nodes import (
    Aggregate,
    Changes,
    ForeignKeyJoin,
    Process,
    Source,
    StreamStreamJoin,
    StreamTableJoin,
    Suppress,
    TableAggregate,
    TableTableJoin,
)
from headwater.plan.processing.folding import joined_with_itself
from headwater.plan.windows import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.plan.nodes import Operator, StatefulOperator
    from headwater.plan.splitting.stages import Stage


@dataclass(frozen=True)
class Fingerprint:
    """Parts by name, each in words, such as `myPlant-aggregate state 1`: `count by key, ...`."""

    parts: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """A short text that is equal for equal parts."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def to_json(self) -> str:
        """Return the text to keep beside a checkpoint."""
        return json.dumps(dict(self.parts), indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Fingerprint:
        """Read what `to_json` wrote."""
        return cls(tuple((str(name), str(part)) for name, part in json.loads(text).items()))

    def changes_since(self, old: Fingerprint) -> tuple[str, ...]:
        """Return in words what is not as it was; new stages start fresh and do not count."""
        before, now = dict(old.parts), dict(self.parts)
        old_stages = {_stage_of(name) for name in before}
        changed = [
            f"{name} was {part!r} and is now {now[name]!r}"
            for name, part in before.items()
            if name in now and now[name] != part
        ]
        gone = [f"{name} is gone; it was {part!r}" for name, part in before.items()
                if name not in now]  # fmt: skip
        new = [f"{name} is new: {part!r}" for name, part in now.items()
               if name not in before and _stage_of(name) in old_stages]  # fmt: skip
        return (*changed, *gone, *new)


def fingerprint_of(stages: Iterable[Stage]) -> Fingerprint:
    """Return the fingerprint of a program, stage by stage."""
    return Fingerprint(tuple(part for stage in stages for part in stage_parts(stage)))


def stage_parts(stage: Stage) -> list[tuple[str, str]]:
    """Return the parts of one stage, which is what its own checkpoint depends on."""
    read = sorted(each for source in stage.sources for each in source.reads)
    parts = [(f"{stage.name}{_READS}", ", ".join(read))]
    parts += [
        (f"{stage.name}{_STATE}{number}", _state(node))
        for number, node in enumerate(stage.stateful, start=1)
    ]
    return parts


_READS = ": reads"
_STATE = ": state "


def _stage_of(part_name: str) -> str:
    return part_name.removesuffix(_READS).rpartition(_STATE)[0] or part_name.removesuffix(_READS)


def _state(node: StatefulOperator) -> str:
    match node:
        case Aggregate():
            results = ", ".join(f"{name}={each}" for name, each in node.aggregations)
            window = "" if node.window is None else f", {node.window}"
            return f"{results} by {node.row.key.ddl()}{window}, emit {node.emit}; {node.row}"
        case Changes():
            return f"table of {_table_of(node.parents[0])}, its changes; {node.row}"
        case TableAggregate():
            results = ", ".join(f"{name}={each}" for name, each in node.aggregations)
            of = _table_of(node.parents[0])
            return f"{results} by {node.row.key.ddl()} of the table of {of}; {node.row}"
        case StreamTableJoin():
            table = node.parents[1]
            return f"{node.kind} join with the table of {_table_of(table)}; {table.row}"
        case ForeignKeyJoin():
            left, right = (f"{_table_of(table)} ({table.row})" for table in node.parents)
            on = node.foreign_key
            return f"{node.kind} join of the tables of {left} and {right} on {on}"
        case TableTableJoin():
            left, right = (f"{_table_of(table)} ({table.row})" for table in node.parents)
            return f"{node.kind} join of the tables of {left} and {right}"
        case Suppress():
            return f"updates of {_table_of(node.parents[0])} held back; {node.row}"
        case Process():
            stores = ", ".join(map(str, node.stores))
            clock = ", by wall-clock time" if node.has_own_clock else ""
            return f"processor by {node.parents[0].row.key.ddl()} with [{stores}]{clock}"
        case StreamStreamJoin():
            window = f"-{duration_text(node.before_ms)} to +{duration_text(node.after_ms)}"
            one, other = (parent.row for parent in node.parents)
            itself = "" if joined_with_itself(node) is None else " with itself"
            return (
                f"{node.kind} join{itself} {window}, a row for each key; left {one}; right {other}"
            )
        case _:
            assert_never(node)


def _table_of(table: Operator) -> str:
    while table.parents:
        table = table.parents[0]
    return ", ".join(table.places) if isinstance(table, Source) else table.id
