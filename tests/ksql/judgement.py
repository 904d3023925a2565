"""What became of statements and cases in each tier, and why some failed."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.ksql.statements import CaseStatements, UnknownSchemaError, uses_functions_of_its_own

from headwater.sql.analysis.outcomes import StoreQuery
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse
from headwater.sql.planning.plans import plan_queries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.ksql.cases import Case
    from tests.ksql.execution import CaseRuns


class Outcome(enum.Enum):
    """How a statement or a case ended."""

    RIGHT = "right"
    REFUSED_AS_EXPECTED = "refused, where a refusal is expected"
    NOT_REFUSED = "not refused, where a refusal is expected"
    NOT_YET = "cannot be run yet"
    NOT_JUDGED = "not judged"
    FAILED = "failed"


@dataclass(frozen=True)
class Failure:
    """What should have gone well."""

    case: Case
    reason: str


@dataclass
class Judgement:
    """Counts of outcomes, the failures one by one, and why cases cannot be run yet."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: Judgement) -> None:
        """Count what another judgement has counted."""
        self.outcomes.update(other.outcomes)
        self.failures += other.failures
        self.reasons.update(other.reasons)

    def fail(self, case: Case, reason: str) -> None:
        """Count a failure."""
        self.outcomes[Outcome.FAILED] += 1
        self.failures.append(Failure(case, reason))


def judge_reading(cases: Iterable[Case]) -> Judgement:
    """Read every statement of the cases."""
    judgement = Judgement()
    for case in cases:
        for statement in case.statements:
            try:
                for _ in parse(statement):
                    pass
            except SqlError as error:
                if case.refused and statement == case.statements[-1]:
                    judgement.outcomes[Outcome.REFUSED_AS_EXPECTED] += 1
                else:
                    judgement.fail(case, str(error))
            else:
                judgement.outcomes[Outcome.RIGHT] += 1
    return judgement


def judge_statements(cases: Iterable[Case]) -> Judgement:
    """Analyse the statements of each case, and compare the schemas that it expects."""
    judgement = Judgement()
    for case in cases:
        if uses_functions_of_its_own(case):
            judgement.outcomes[Outcome.NOT_JUDGED] += 1
            continue
        statements = CaseStatements(case)
        try:
            statements.run()
        except UnknownSchemaError:
            judgement.outcomes[Outcome.NOT_JUDGED] += 1
        except SqlError as error:
            if case.refused:
                judgement.outcomes[Outcome.REFUSED_AS_EXPECTED] += 1
            else:
                judgement.fail(case, str(error))
        else:
            differences = list(statements.differences())
            if case.refused:
                judgement.outcomes[Outcome.NOT_REFUSED] += 1
                judgement.failures.append(Failure(case, "not refused"))
            elif differences:
                judgement.fail(case, "\n".join(differences))
            else:
                judgement.outcomes[Outcome.RIGHT] += 1
    return judgement


def judge_plans(cases: Iterable[Case]) -> Judgement:
    """Plan the cases that are to be taken and have records, in the formats that they name."""
    judgement = Judgement()
    for case in cases:
        if case.refused or not case.inputs:
            continue
        if uses_functions_of_its_own(case):
            judgement.outcomes[Outcome.NOT_JUDGED] += 1
            continue
        try:
            done = CaseStatements(case).run()
            plan_queries("case", [each for each in done if isinstance(each, StoreQuery)])
        except UnknownSchemaError:
            judgement.outcomes[Outcome.NOT_JUDGED] += 1
        except SqlError as error:
            judgement.outcomes[Outcome.NOT_YET] += 1
            judgement.failures.append(Failure(case, error.reason))
        else:
            judgement.outcomes[Outcome.RIGHT] += 1
    return judgement


def judge_records(cases: Iterable[Case], runs: CaseRuns) -> Judgement:
    """Run the cases that are to be taken, and compare record by record."""
    judgement = Judgement()
    for case in cases:
        if case.refused or not case.inputs:
            continue
        if uses_functions_of_its_own(case):
            judgement.outcomes[Outcome.NOT_JUDGED] += 1
            continue
        try:
            differences = runs.differences(case)
        except UnknownSchemaError:
            judgement.outcomes[Outcome.NOT_JUDGED] += 1
        except SqlError as error:
            judgement.outcomes[Outcome.NOT_YET] += 1
            judgement.reasons[error.reason.split(":")[0]] += 1
        except Exception as error:
            judgement.fail(case, f"{type(error).__name__}: {error}"[:500])
        else:
            if differences:
                judgement.fail(case, "\n".join(differences))
            else:
                judgement.outcomes[Outcome.RIGHT] += 1
    return judgement
