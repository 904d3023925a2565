"""The statements of a case, analysed one after the other, and the schemas that they make."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from headwater.plan.errors import PlanError
from headwater.plan.registry_types import schema_type
from headwater.serde import Schema, SchemaRegistryClient
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.parser.parser import parse, parse_statement
from headwater.sql.server.topics.registry_schemas import type_of
from headwater.sql.tree.statements.creation import ColumnRole, CreateSource
from headwater.sql.types.named import resolve_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ksql.cases import Case

    from headwater.sql.analysis.outcomes import Outcome
    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.types.sql_type import SqlType


# What refers to other schemas is not among the cases, so that nobody is asked.
_NOBODY = SchemaRegistryClient("http://127.0.0.1:9")
_KINDS: dict[str, Literal["AVRO", "JSON", "PROTOBUF"]] = {
    "AVRO": "AVRO",
    "JSON_SR": "JSON",
    "PROTOBUF": "PROTOBUF",
}
_KEYS = (ColumnRole.KEY, ColumnRole.PRIMARY_KEY)


# Functions that ksqlDB's test harness brings along.
_OWN_FUNCTIONS = re.compile(
    r"\b(WHENCONDITION|WHENRESULT|BAD_UDF|GENERIC_VAR_ARG|MID_VAR_ARG|(MULTI|FOUR|FIVE)_ARG)\b",
    re.IGNORECASE,
)


def uses_functions_of_its_own(case: Case) -> bool:
    """Tell whether a case calls functions that only ksqlDB's test harness has."""
    return any(_OWN_FUNCTIONS.search(text) for text in case.statements)


class UnknownSchemaError(Exception):
    """A schema of the case's registry that cannot be read here."""


class CaseSchemas:
    """The schemas of a case's topics."""

    def __init__(self, case: Case) -> None:
        self._topics = case.topics

    def find(self, topic: str, chosen: ChosenFormat, *, is_key: bool) -> SqlType | None:
        """Return the type of a topic's schema, or of the one that has this id."""
        side = "key" if is_key else "value"
        for given in self._topics:
            by_id = chosen.schema_id is not None and chosen.schema_id == given.get(
                f"{side}SchemaId"
            )
            if by_id or given["name"] == topic:
                schema = given.get(f"{side}Schema")
                return None if schema is None else self._type(schema, chosen)
        return None

    def _type(self, schema: object, chosen: ChosenFormat) -> SqlType:
        text = schema if isinstance(schema, str) and " " in schema else json.dumps(schema)
        try:
            found = schema_type(Schema(text, _KINDS[chosen.name]), _NOBODY, chosen.message)
            return type_of(found, chosen, _NOBODY)
        except PlanError as error:
            raise UnknownSchemaError(chosen.name) from error


class CaseStatements:
    """The sources and types that a case's statements have made so far."""

    def __init__(self, case: Case) -> None:
        self._case = case
        partitions = {topic["name"]: topic.get("partitions") for topic in case.topics}
        self.analyser = StatementAnalyser(
            settings=case.settings, schemas=CaseSchemas(case), partitions=partitions.get
        )

    def run(self) -> list[Outcome]:
        """Analyse all statements; return what each asks for."""
        return [
            self.analyser.run(parsed.statement)
            for text in self._case.statements
            for parsed in parse(text)
        ]

    def differences(self) -> Iterator[str]:
        """Return where a source has another schema than the case expects."""
        for name, schema in self._case.schemas:
            known = self.analyser.metastore.find(name)
            if known is None:
                yield f"there is no {name}"
                continue
            declared = parse_statement(f"CREATE STREAM expected ({schema})")
            assert isinstance(declared, CreateSource)
            expected = [
                (column.name, resolve_type(column.type, {}), column.role in _KEYS)
                for column in declared.columns
            ]
            found = [(column.name, column.type, column.is_key) for column in known.columns]
            if found != expected:
                yield f"{name} is {', '.join(map(str, known.columns))}\n  and not {schema}"
