"""Runs the statements of a case over its records, without a broker, and compares what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ksql.statements import CaseStatements

from headwater.testing.sql.comparison import Comparison
from headwater.testing.sql.driver import AnalysedStatements, SqlDriver
from headwater.testing.sql.json_files import compared

if TYPE_CHECKING:
    from tests.ksql.cases import Case


def run_case(case: Case) -> list[str]:
    """Return where the records differ from those that the case expects."""
    statements = CaseStatements(case)
    outcomes = statements.run()
    known = statements.analyser.metastore.sources.values()
    formats = {source.topic: source.value_format.name for source in known}
    with SqlDriver(AnalysedStatements(statements.analyser, outcomes)) as driver:
        read = driver.read_topics
        for record in case.inputs:
            if record["topic"] in read:
                driver.pipe(record)
        return compared(
            driver,
            case.outputs,
            lambda topic: Comparison(
                is_by_key=driver.is_by_key,
                is_exact=case.settings.get("use.exact.numeric.comparison") != "False",
                has_defaults="PROTOBUF" in formats[topic],
            ),
        )
