"""Runs the statements of a case over its records, without a broker, and compares what comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.ksql.statements import CaseStatements

from headwater.sql.analysis.outcomes import InsertRow, StoreQuery
from headwater.sql.planning.plans import plan_queries
from headwater.testing.sql.comparison import Comparison, differences
from headwater.testing.sql.driver import AnalysedStatements, SqlDriver
from headwater.testing.sql.local_formats import source_without_registry, without_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.ksql.cases import Case

    from headwater.plan.plan import Plan
    from headwater.sql.analysis.outcomes import Outcome
    from headwater.testing.topology_driver import OutputRecord


@dataclass(frozen=True)
class _Run:
    """What a program made of the records that it was given."""

    written: Mapping[str, list[OutputRecord]]
    is_by_key: bool


@dataclass
class CaseRuns:
    """Runs cases; a program that another case has run over the same records is not run again.

    There are such since JSON stands for the formats of a registry.
    """

    _known: dict[tuple[str, ...], _Run] = field(default_factory=dict)

    def differences(self, case: Case) -> list[str]:
        """Return where the records of a case differ from those that it expects."""
        statements = CaseStatements(case)
        analysed = AnalysedStatements(statements.analyser, statements.run())
        inserted = [repr(each) for each in analysed.outcomes if isinstance(each, InsertRow)]
        topics = tuple(dict.fromkeys(record["topic"] for record in case.outputs))
        of = (repr(planned(analysed.outcomes)), json.dumps(case.inputs), *inserted, *topics)
        run = self._known.get(of)
        if run is None:
            run = self._known[of] = _run(case, analysed, topics)
        return list(_differences(case, analysed, run))


def planned(outcomes: Sequence[Outcome]) -> Plan:
    """Return the plan of the queries that statements store; raises SqlError."""
    queries = [without_registry(each) for each in outcomes if isinstance(each, StoreQuery)]
    return plan_queries("sql-test", queries)


def _run(case: Case, analysed: AnalysedStatements, topics: Sequence[str]) -> _Run:
    with SqlDriver(analysed) as driver:
        read = driver.read_topics
        for record in case.inputs:
            if record["topic"] in read:
                driver.pipe(record)
        return _Run({topic: driver.records(topic) for topic in topics}, driver.is_by_key)


def _differences(case: Case, analysed: AnalysedStatements, run: _Run) -> Iterator[str]:
    sources = {
        source.topic: source for source in reversed(analysed.analyser.metastore.sources.values())
    }
    for topic, written in run.written.items():
        how = Comparison(
            is_by_key=run.is_by_key,
            is_exact=case.settings.get("use.exact.numeric.comparison") != "False",
            has_defaults="PROTOBUF" in sources[topic].value_format.name,
        )
        expected = [record for record in case.outputs if record["topic"] == topic]
        yield from differences(expected, written, source_without_registry(sources[topic]), how)
