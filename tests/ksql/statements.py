"""The statements of a case, analysed one after the other, and the schemas that they make."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

from headwater.plan.errors import PlanError
from headwater.plan.schemas.registry_types import schema_type
from headwater.serde import Reference, Schema, SchemaRegistryClient
from headwater.serde.schema import RegisteredSchema
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.parser.parser import parse, parse_statement
from headwater.sql.server.topics.registry_schemas import type_of
from headwater.sql.tree.statements.creation import ColumnRole, CreateSource
from headwater.sql.types.named import resolve_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.ksql.cases import Case

    from headwater.sql.analysis.outcomes import Outcome
    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.types.sql_type import SqlType


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


class _References(SchemaRegistryClient):
    """What a case's schema refers to; no other registry is asked."""

    def __init__(self, given: Sequence[dict[str, Any]]) -> None:
        super().__init__("http://127.0.0.1:9")
        self._given = {each["name"]: each for each in given}

    def of(self) -> tuple[Reference, ...]:
        """Return the references, each under a subject of its name."""
        return tuple(Reference(name, name, 1) for name in self._given)

    def get_version(self, subject: str, version: int, *, deleted: bool = False) -> RegisteredSchema:
        """Return the schema of a reference."""
        del deleted
        given = self._given[subject]
        return RegisteredSchema(
            subject, version, 1, Schema(given["schema"], _KINDS[given["format"]])
        )


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
                references = _References(given.get(f"{side}SchemaReferences", ()))
                return None if schema is None else self._type(schema, chosen, references)
        return None

    def _type(self, schema: object, chosen: ChosenFormat, references: _References) -> SqlType:
        text = schema if isinstance(schema, str) and " " in schema else json.dumps(schema)
        try:
            whole = Schema(text, _KINDS[chosen.name], references.of())
            found = schema_type(whole, references, chosen.message)
            return type_of(found, chosen, references)
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
