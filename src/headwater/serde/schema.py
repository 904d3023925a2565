"""Schemas as the registry knows them: a text, its type, and what it refers to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from headwater.serde.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

SchemaType: TypeAlias = Literal["AVRO", "JSON", "PROTOBUF"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A schema that another one uses, by the name it is called there."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema's text and what it needs to be understood."""

    text: str
    type: SchemaType = "AVRO"
    references: tuple[Reference, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the body of a request that sends this schema."""
        body: dict[str, Any] = {"schema": self.text}
        if self.type != "AVRO":  # the registry's default, which old registries insist on
            body["schemaType"] = self.type
        if self.references:
            body["references"] = [
                {"name": each.name, "subject": each.subject, "version": each.version}
                for each in self.references
            ]
        return body

    def parse_json(self) -> Any:
        """Return the text of an Avro or JSON schema as JSON; raises SchemaError."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as failure:
            name = "Avro" if self.type == "AVRO" else "JSON"
            raise SchemaError(f"this is no {name} schema, as it is not JSON: {failure}") from None

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Schema:
        """Read a schema from an answer of the registry."""
        return cls(
            answer["schema"],
            answer.get("schemaType") or "AVRO",
            tuple(
                Reference(each["name"], each["subject"], each["version"])
                for each in answer.get("references") or ()
            ),
        )


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema with the id and the version that the registry gave it."""

    subject: str
    version: int
    id: int
    schema: Schema

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> RegisteredSchema:
        """Read a subject's version from an answer of the registry."""
        return cls(answer["subject"], answer["version"], answer["id"], Schema.from_json(answer))


def as_schema(given: str | Schema, kind: SchemaType) -> Schema:
    """Accept a schema's text as well as a schema with references."""
    if isinstance(given, str):
        return Schema(given.strip(), kind)
    if given.type != kind:
        raise ValueError(f"this takes schemas of type {kind}, not {given.type}")
    return given
