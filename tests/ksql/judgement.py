"""What became of each statement: read, refused where a refusal is expected, or failed."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.ksql.cases import Case


class Outcome(enum.Enum):
    """How a statement ended."""

    READ = "read"
    REFUSED_AS_EXPECTED = "refused, in a case that expects a refusal"
    FAILED = "failed"


@dataclass(frozen=True)
class Failure:
    """A statement that should have been read."""

    case: Case
    statement: str
    reason: str


@dataclass
class Judgement:
    """Counts of outcomes, and the failures one by one."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def share_right(self) -> float:
        """The share of statements that did not fail."""
        total = sum(self.outcomes.values())
        return 1 - self.outcomes[Outcome.FAILED] / total if total else 1.0


def judge(cases: Iterable[Case]) -> Judgement:
    """Read every statement of the cases."""
    judgement = Judgement()
    for case in cases:
        for statement in case.statements:
            _judge_statement(case, statement, judgement)
    return judgement


def _judge_statement(case: Case, statement: str, judgement: Judgement) -> None:
    try:
        for _ in parse(statement):
            pass
    except SqlError as error:
        if case.refused and statement == case.statements[-1]:
            judgement.outcomes[Outcome.REFUSED_AS_EXPECTED] += 1
            return
        judgement.outcomes[Outcome.FAILED] += 1
        judgement.failures.append(Failure(case, statement, str(error)))
    else:
        judgement.outcomes[Outcome.READ] += 1
