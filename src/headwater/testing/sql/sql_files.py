"""Tests that are SQL alone: statements, rows that are inserted, and ASSERT after them.

A file has one or more tests, each under a line `--@test: name`. With `--@expected.error` or
`--@expected.message: text` a test is to be refused, with a message that has the text in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.expressions import analyse
from headwater.sql.analysis.scope import Scope
from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import PSEUDO_COLUMNS
from headwater.sql.parser.parser import parse
from headwater.sql.server.rows.casting import caster
from headwater.sql.server.rows.computation import computation
from headwater.sql.tree.statements.assertions import AssertSource, AssertTombstone, AssertValues
from headwater.sql.tree.statements.changes import InsertValues
from headwater.sql.tree.statements.creation import ColumnRole
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.named import resolve_type
from headwater.testing.sql.driver import AnalysedStatements, SqlDriver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

    from headwater.sql.metastore.source import DataSource, SourceColumn
    from headwater.sql.parser.parser import ParsedStatement
    from headwater.sql.tree.expressions import Expression

_DIRECTIVE = re.compile(r"^--@(?P<name>test|expected\.error|expected\.message):?\s*(?P<text>.*)$")


@dataclass(frozen=True)
class SqlTest:
    """One test of a file."""

    name: str
    statements: str
    is_refused: bool = False
    message: str = ""


def read_tests(text: str) -> list[SqlTest]:
    """Return the tests of a file; what stands before the first `--@test` belongs to none."""
    found: list[dict[str, Any]] = []
    for line in text.splitlines():
        directive = _DIRECTIVE.match(line.strip())
        if directive is not None and directive["name"] == "test":
            found.append({"name": directive["text"].strip(), "lines": []})
        elif not found:
            continue
        elif directive is not None:
            found[-1]["is_refused"] = True
            if directive["name"] == "expected.message":
                found[-1]["message"] = directive["text"].strip()
        else:
            found[-1]["lines"].append(line)
    return [
        SqlTest(each["name"], "\n".join(each["lines"]), each.get("is_refused", False),
                each.get("message", ""))
        for each in found
    ]  # fmt: skip


def run_test(test: SqlTest, spark: SparkSession | None = None) -> str | None:
    """Run a test; return why it failed, or None."""
    try:
        _Run(test.statements, spark).run()
    except (SqlError, TypeMismatchError, AssertionError) as refusal:
        if test.is_refused and test.message in str(refusal):
            return None
        return str(refusal)
    return "it was to be refused, and was not" if test.is_refused else None


class _Run:
    """The statements of a test: what makes something first, since queries read all there is."""

    def __init__(self, text: str, spark: SparkSession | None) -> None:
        self._all = list(parse(text))
        self._spark = spark
        self._rows: dict[str, Iterator[dict[str, Any]]] = {}

    def run(self) -> None:
        """Run all; raises SqlError, and AssertionError for a row that is not as it should be."""
        made = [each for each in self._all if not isinstance(each.statement, _LATER)]
        statements = AnalysedStatements.of(";\n".join([each.text for each in made] + [""]))
        self._analyser = statements.analyser
        for parsed in self._all:
            if isinstance(parsed.statement, AssertSource):
                self._check_source(parsed.statement)
        later = [each for each in self._all if isinstance(each.statement, _ROWS)]
        if not later:
            return
        with SqlDriver(statements, self._spark) as driver:
            for parsed in later:
                self._step(parsed, driver)

    def _step(self, parsed: ParsedStatement, driver: SqlDriver) -> None:
        match parsed.statement:
            case InsertValues():
                driver.insert(f"{parsed.text};")
            case AssertValues(source, columns, values):
                self._check_row(driver, source, columns, values, parsed.text)
            case AssertTombstone(source, columns, values):
                row = self._check_row(driver, source, columns, values, parsed.text)
                if any(row[column.name] is not None for column in driver.source(source).value):
                    raise AssertionError(f"{parsed.text}\n  and there is {_shown(row)}")

    def _check_row(
        self,
        driver: SqlDriver,
        name: str,
        columns: tuple[str, ...],
        values: tuple[Expression, ...],
        text: str,
    ) -> dict[str, Any]:
        source = driver.source(name)
        wanted = self._wanted(source, columns, values)
        row = self._next(driver, name)
        if row is None:
            raise AssertionError(f"{text}\n  and there is no further row")
        if any(row[column] != value for column, value in wanted.items()):
            raise AssertionError(f"{text}\n  and there is {_shown(row)}")
        return row

    def _next(self, driver: SqlDriver, name: str) -> dict[str, Any] | None:
        row = next(self._rows.get(name, iter(())), None)
        if row is None:
            self._rows[name] = iter(driver.full_rows(name))
            row = next(self._rows[name], None)
        return row

    def _wanted(
        self, source: DataSource, columns: tuple[str, ...], values: tuple[Expression, ...]
    ) -> dict[str, Any]:
        known = {column.name: column for column in source.columns}
        names = columns or tuple(known)
        if len(names) != len(values):
            raise SqlError(f"there are {len(values)} values for {len(names)} columns")
        return {
            name: _value(value, known.get(name), name, source)
            for name, value in zip(names, values, strict=True)
        }

    def _check_source(self, statement: AssertSource) -> None:
        """Compare columns, and the properties that are named."""
        expected = statement.expected
        known = self._analyser.metastore.source(expected.name, statement.location)
        if known.kind is not expected.kind:
            raise AssertionError(f"{known.name} is a {known.kind.value.lower()}")
        columns = [
            (column.name, resolve_type(column.type, self._analyser.metastore.types),
             column.role in _KEYS)
            for column in expected.columns
        ]  # fmt: skip
        found = [(column.name, column.type, column.is_key) for column in known.columns]
        if columns and columns != found:
            raise AssertionError(f"{known.name} is {', '.join(map(str, known.columns))}")
        has = {
            "KAFKA_TOPIC": known.topic,
            "KEY_FORMAT": known.key_format.name,
            "VALUE_FORMAT": known.value_format.name,
        }
        for given in expected.properties:
            name, wanted = given.name.upper(), str(getattr(given.value, "value", None))
            if name not in has:
                raise SqlError(f"{name} cannot be asserted, only {', '.join(has)}", given.location)
            if wanted != has[name]:
                raise AssertionError(f"{name} of {known.name} is {has[name]}, and not {wanted}")


_ROWS = (InsertValues, AssertValues, AssertTombstone)
_LATER = (*_ROWS, AssertSource)
_KEYS = (ColumnRole.KEY, ColumnRole.PRIMARY_KEY)


def _value(value: Expression, column: SourceColumn | None, name: str, source: DataSource) -> Any:
    type_ = PSEUDO_COLUMNS.get(name) if column is None else column.type
    if type_ is None:
        raise SqlError(f"{source.name} has no column {name}", value.location)
    typed = analyse(value, Scope())
    return caster(typed.type, type_)(computation(typed)({}))


def _shown(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in row.items())
