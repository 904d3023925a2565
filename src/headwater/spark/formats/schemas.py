"""What the driver asks the registry: who wrote a topic's records, and the id to write with.

A running query cannot learn a schema: its expressions are fixed. So they know all versions that a
subject had when the query was compiled, and a record with another id ends the query with
`NewSchemaError`'s text. The job looks the id up, compiles again and goes on from the checkpoint.
An id that the registry does not know makes its records broken ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from headwater.plan.errors import PlanError
from headwater.plan.registry_types import from_avro, subject_type
from headwater.serde import RegistryError, Schema, SchemaRegistryClient

if TYPE_CHECKING:
    from headwater.plan.formats import Format

NEW_SCHEMA = "headwater: schema id "
_NEW_ID = re.compile(rf"{NEW_SCHEMA}(\d+) is new in (\S+)")
_SUBJECT_NOT_FOUND, _SCHEMA_NOT_FOUND = 40401, 40403


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

    def __init__(self, registry_url: str | None) -> None:
        self._url = registry_url
        self._client: SchemaRegistryClient | None = None
        self._seen: dict[str, dict[int, str]] = {}

    @property
    def registry(self) -> SchemaRegistryClient:
        """The client; a program without a registry's address has none."""
        if self._client is None:
            if not self._url:
                raise ValueError(
                    "Avro, JSON Schema and Protobuf need a schema registry: give its address with "
                    "App(..., registry_url='http://localhost:8081')"
                )
            self._client = SchemaRegistryClient(self._url)
        return self._client

    def writers(self, subject: str) -> dict[int, str]:
        """Return the Avro schemas by id: all versions of the subject, and what was met since."""
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

    def latest(self, subject: str, kind: str) -> str:
        """Return the schema of a kind for which none follows from a type; raises PlanError."""
        try:
            return subject_type(self.registry, subject, kind).text
        except PlanError as refusal:
            raise PlanError(
                f"no {kind} schema follows from a type, and there is none to write with: "
                f"{refusal.reason}"
            ) from refusal

    def learn(self, new: NewSchema) -> bool:
        """Look up an id that came up; tell whether the registry knows it."""
        try:
            schema = self.registry.get_schema(new.id)
        except RegistryError as refusal:
            if refusal.error_code != _SCHEMA_NOT_FOUND:
                raise
            schema = None
        known = schema is not None and schema.type == "AVRO"
        text = self._text(schema) if schema is not None and known else ""
        self._seen.setdefault(new.subject, {})[new.id] = text
        return known

    def id_of(self, subject: str, text: str, kind: str) -> int:
        """Register a schema, unless it is there, and return its id."""
        types = {"avro": "AVRO", "jsonschema": "JSON", "protobuf": "PROTOBUF"}
        return self.registry.register_schema(subject, Schema(text, types[kind]))  # type: ignore[arg-type]

    def _text(self, schema: Schema) -> str:
        return from_avro(schema, self.registry).text


def subject_of(format_: Format, topic: str, field: str) -> str:
    """Return where a topic's schemas are registered."""
    return format_.subject or f"{topic}-{field}"
