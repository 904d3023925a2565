"""What the driver asks the registry: who wrote a topic's records, and the id to write with.

A running query cannot learn a schema: its expressions are fixed. So they know all versions that a
subject had when the query was compiled, and a record with another id ends the query with
`NewSchema`'s text. The job looks the id up, compiles again and goes on from the checkpoint.
An id that the registry does not know makes its records malformed ones.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from headwater.plan.errors import PlanError
from headwater.plan.schemas.registry_types import from_avro, registered_type, subject_type
from headwater.plan.schemas.schema_fit import contradiction
from headwater.serde import RegistryError, Schema, SchemaRegistryClient

if TYPE_CHECKING:
    from headwater.clients import RegistryAccess
    from headwater.plan.formats import Format
    from headwater.plan.schemas.types import DataType
    from headwater.serde.schema import SchemaType as Kind

NEW_SCHEMA = "headwater: schema id "
_NEW_ID = re.compile(rf"{NEW_SCHEMA}(\d+) is new in (\S+)")
_SUBJECT_NOT_FOUND, _SCHEMA_NOT_FOUND = 40401, 40403
_KINDS: dict[str, Kind] = {"avro": "AVRO", "jsonschema": "JSON", "protobuf": "PROTOBUF"}


class NewSchema(NamedTuple):
    """An id that came up while a query ran."""

    id: int
    subject: str

    @classmethod
    def found_in(cls, failure: str) -> NewSchema | None:
        """Return the id that made a query fail, if that was the reason."""
        match = _NEW_ID.search(failure)
        return None if match is None else cls(int(match[1]), match[2])


class Schemas:
    """The schemas of one program's topics."""

    def __init__(self, access: RegistryAccess | None) -> None:
        self._access = access
        self._client: SchemaRegistryClient | None = None
        self._seen: dict[str, dict[int, str]] = {}
        self._kinds: dict[str, Kind] = {}

    @property
    def registry(self) -> SchemaRegistryClient:
        """The client; a program without a registry's address has none."""
        if self._client is None:
            if self._access is None:
                raise ValueError(
                    "Avro, JSON Schema and Protobuf need a schema registry: give its address with "
                    "App(..., registry_url='http://localhost:8081')"
                )
            self._client = SchemaRegistryClient(self._access)
        return self._client

    def writers(self, subject: str, kind: str) -> dict[int, str]:
        """Return the schemas by id: all versions of the subject, and what was met since.

        An empty text stands for an id that the registry does not know, or not as of this kind.
        """
        self._kinds[subject] = _KINDS[kind]
        found = dict(self._seen.get(subject, {}))
        try:
            versions = self.registry.get_versions(subject)
        except RegistryError as refusal:
            if refusal.error_code != _SUBJECT_NOT_FOUND:
                raise
            versions = []
        for version in versions:
            registered = self.registry.get_version(subject, version)
            found[registered.id] = self._text(registered.schema)
        return found

    def latest(self, subject: str, kind: str) -> Schema:
        """Return the schema of a kind for which none follows from a type; raises PlanError."""
        try:
            found = subject_type(self.registry, subject, kind)
        except PlanError as refusal:
            raise PlanError(
                f"no {kind} schema follows from a type, and there is none to write with: "
                f"{refusal.reason}"
            ) from refusal
        return Schema(found.text, _KINDS[kind], found.references)

    def read_as(
        self, format_: Format, declared: DataType, topic: str, side: str
    ) -> tuple[Format, DataType]:
        """Return what to decode a declared type from: the registered schema, if there is one.

        Raises PlanError where the two contradict each other.
        """
        if not format_.needs_registry or format_.schema is not None:
            return format_, declared
        subject = subject_of(format_, topic, side)
        found = registered_type(self.registry, subject, format_.kind, format_.message)
        if found is None:
            if format_.kind == "protobuf":
                raise PlanError(
                    f"no protobuf schema follows from {side}_type, and the registry at "
                    f"{self.registry.urls[0]} has no subject {subject!r}: register one first"
                )
            return format_, declared
        reason = contradiction(declared, found.open_type or found.type, format_.kind)
        if reason is not None:
            raise PlanError(
                f"{side}_type={declared.ddl()} contradicts the schema of {subject!r}: {reason}. "
                f"Leave {side}_type out to take the schema's own type, which is "
                f"{found.type.ddl()}, and cast it in the program"
            )
        if format_.kind == "jsonschema":
            return format_, declared
        return replace(format_, schema=found.text, references=found.references), found.type

    def learn(self, new: NewSchema) -> bool:
        """Look up an id that came up; tell whether the registry knows it."""
        try:
            schema = self.registry.get_schema(new.id)
        except RegistryError as refusal:
            if refusal.error_code != _SCHEMA_NOT_FOUND:
                raise
            schema = None
        known = schema is not None and schema.type == self._kinds[new.subject]
        text = self._text(schema) if schema is not None and known else ""
        self._seen.setdefault(new.subject, {})[new.id] = text
        return known

    def id_of(self, subject: str, text: str, kind: str) -> int:
        """Register a schema, unless it is there, and return its id."""
        return self.registry.register_schema(subject, Schema(text, _KINDS[kind]))

    def _text(self, schema: Schema) -> str:
        return from_avro(schema, self.registry).text if schema.type == "AVRO" else schema.text


def subject_of(format_: Format, topic: str, field: str) -> str:
    """Return where a topic's schemas are registered."""
    return format_.subject or f"{topic}-{field}"
