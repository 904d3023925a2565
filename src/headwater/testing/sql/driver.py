"""SQL without a broker: statements, rows that go in, rows that come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.nodes import Stateful
from headwater.plan.splitting.stages import split
from headwater.sql.analysis.outcomes import InsertRow, StoreQuery
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse
from headwater.sql.planning.plans import plan_queries
from headwater.sql.server.rows.inserted import inserted_values
from headwater.sql.server.rows.records import Record, RecordReader, RecordWriter
from headwater.sql.tree.statements.session import SetProperty, UnsetProperty
from headwater.testing.sql.json_records import (
    at,
    record_headers,
    record_key,
    record_time,
    record_value,
)
from headwater.testing.sql.local_formats import source_without_registry, without_registry
from headwater.testing.topology_driver import OutputRecord, TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.sql.analysis.outcomes import Outcome
    from headwater.sql.metastore.source import DataSource


@dataclass(frozen=True)
class AnalysedStatements:
    """Statements after analysis: what each asks for, and what there is after all of them."""

    analyser: StatementAnalyser
    outcomes: list[Outcome]

    @classmethod
    def of(cls, text: str) -> AnalysedStatements:
        """Analyse statements; raises SqlError for the first that is refused."""
        settings: dict[str, str] = {}
        made = cls(StatementAnalyser(settings=settings), [])
        for parsed in parse(text):
            match parsed.statement:
                case SetProperty(name, value):
                    settings[name.removeprefix("ksql.streams.")] = value
                case UnsetProperty(name):
                    settings.pop(name.removeprefix("ksql.streams."), None)
                case statement:
                    try:
                        made.outcomes.append(made.analyser.run(statement))
                    except SqlError as refusal:
                        raise refusal.within(parsed.text) from None
        return made


class SqlDriver:
    """Runs statements over rows that a test gives them.

    >>> with SqlDriver(statements) as driver:  # doctest: +SKIP
    ...     driver.insert("INSERT INTO readings VALUES ('s1', 900);")
    ...     driver.rows("alerts")
    [{'ID': 's1', 'VALUE': 900}]

    The statements make streams, tables and types, and store queries; INSERT INTO ... VALUES among
    them are run too. Rows go through the queries in the order in which they are given. As with a
    `TopologyDriver`, formats of a registry are replaced by JSON, and event time is ROWTIME, which
    is nought unless the row has one.
    """

    def __init__(
        self, statements: str | AnalysedStatements, spark: SparkSession | None = None
    ) -> None:
        if isinstance(statements, str):
            statements = AnalysedStatements.of(statements)
        self._analyser = statements.analyser
        listed = statements.outcomes
        queries = [without_registry(each) for each in listed if isinstance(each, StoreQuery)]
        if not queries:
            raise SqlError("there is nothing to run: no statement stores a query")
        plan = plan_queries("sql-test", queries)
        self.read_topics = {topic for each in plan.topic_sources() for topic in each.topics}
        self.is_by_key = any(isinstance(node, Stateful) for node in plan.walk())
        """Whether state is kept by key, so that rows of different keys have no order."""
        # Which of two records of different topics came first can only be told by running between
        # them; where one stage reads what another writes, records of one topic are not enough.
        self._is_in_order = len(self.read_topics) == 1
        self._runs_each = len(split(plan)) > 1
        self._last_topic: str | None = None
        self._given: dict[str, list[OutputRecord]] = {}
        self._driver = TopologyDriver(plan, spark)
        for each in listed:
            if isinstance(each, InsertRow):
                self._insert(each)

    def __enter__(self) -> SqlDriver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def insert(self, statements: str) -> None:
        """Run INSERT INTO ... VALUES statements; raises SqlError for others."""
        for parsed in parse(statements):
            outcome = self._analyser.analyse(parsed.statement)
            if not isinstance(outcome, InsertRow):
                raise SqlError("only INSERT INTO ... VALUES can come after the queries began")
            self._insert(outcome)

    def rows(self, source: str) -> list[dict[str, Any]]:
        """Return the rows that came since the last call to a stream or table, by column.

        A deleted row of a table has its key and nothing but None beside it.
        """
        columns = self.source(source).columns
        return [
            {column.name: row[column.name] for column in columns} for row in self.full_rows(source)
        ]

    def full_rows(self, source: str) -> list[dict[str, Any]]:
        """Return rows with ROWTIME and what else no statement declares."""
        found = self.source(source)
        reader = RecordReader(found, "", None)
        return [_row(reader, record) for record in self.records(found.topic)]

    def records(self, topic: str) -> list[OutputRecord]:
        """Return the records that came to a topic since the last call."""
        return [*self._given.pop(topic, ()), *self._driver.read(topic)]

    def pipe(self, record: dict[str, Any]) -> None:
        """Give a record as files of ksqlDB's test runner have it; raises ValueError."""
        source = self.source_of(record["topic"])
        self._before(source.topic)
        self._driver.pipe(
            source.topic,
            record_key(record, source),
            record_value(record.get("value"), source),
            headers=record_headers(record),
            timestamp=record_time(record),
        )

    def source(self, name: str) -> DataSource:
        """Return a stream or table by its name; raises SqlError."""
        metastore = self._analyser.metastore
        known = metastore.find(name) or metastore.find(name.upper())
        if known is None:
            raise SqlError(f"there is no stream or table {name}")
        return source_without_registry(known)

    def source_of(self, topic: str) -> DataSource:
        """Return the stream or table over a topic; raises ValueError."""
        for source in self._analyser.metastore.sources.values():
            if source.topic == topic:
                return source_without_registry(source)
        raise ValueError(f"no stream or table is over the topic {topic!r}")

    def close(self) -> None:
        """Forget everything; Spark stays for the next driver."""
        self._driver.close()

    def _insert(self, row: InsertRow) -> None:
        columns = inserted_values(row)
        target = source_without_registry(row.target)
        key, value = RecordWriter(target, None).record(columns)
        time = at(columns.get("ROWTIME") or 0)
        if target.topic in self.read_topics:
            self._before(target.topic)
            self._driver.pipe_bytes(target.topic, key, value, time)
        record = OutputRecord(None, None, time, raw=(key, value))
        self._given.setdefault(target.topic, []).append(record)

    def _before(self, topic: str) -> None:
        """Run what was given so far, if the next record of a topic has to come after it."""
        is_other = topic != self._last_topic and self._last_topic is not None
        if not self._is_in_order and (is_other or self._runs_each):
            self._driver.run()
        self._last_topic = topic


def _row(reader: RecordReader, record: OutputRecord) -> dict[str, Any]:
    key, value = record.raw
    made = reader.row(Record(key, value, round(record.timestamp.timestamp() * 1000)))
    return {name: part for (_, name), part in made.items()}
