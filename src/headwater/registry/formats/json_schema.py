"""JSON Schema: drafts 4, 6, 7, 2019-09 and 2020-12, compared by their content models."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from headwater.registry.formats.base import (
    Incompatibility,
    InvalidSchemaError,
    ParsedSchema,
    SchemaFormat,
)
from headwater.registry.formats.json_schema_diff import differences
from headwater.registry.formats.json_schema_kinds import explain
from headwater.registry.formats.json_schema_loader import load
from headwater.registry.formats.json_schema_references import Documents
from headwater.registry.formats.json_schema_rules import compare_nodes
from headwater.registry.formats.json_text import parse_json, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.registry.formats.json_schema_model import Node

_DRAFTS = {
    "draft-04": jsonschema_rs.Draft4,
    "draft-06": jsonschema_rs.Draft6,
    "draft-07": jsonschema_rs.Draft7,
    "2019-09": jsonschema_rs.Draft201909,
    "2020-12": jsonschema_rs.Draft202012,
}
_MODERN = ("2019-09", "2020-12")


class JsonSchemaFormat(SchemaFormat):
    """JSON Schemas; a reference's schema is used by a `$ref` to its name."""

    name = "JSON"

    def parse(self, text: str, references: Mapping[str, str], *, is_new: bool = True) -> JsonSchema:
        """Understand a JSON Schema; raises InvalidSchemaError."""
        document = parse_json(text, exact_numbers=True)
        if not isinstance(document, dict | bool):
            raise InvalidSchemaError("a JSON Schema is an object, true or false")
        if is_new:
            _check_against_meta_schema(document)
        parsed = {name: parse_json(each, exact_numbers=True) for name, each in references.items()}
        schema = JsonSchema(document, parsed)
        if is_new:
            schema.root  # noqa: B018 - reading it finds what the meta-schema cannot
        return schema


class JsonSchema(ParsedSchema):
    """A JSON Schema with the documents it refers to."""

    def __init__(self, document: Any, references: Mapping[str, Any]) -> None:
        self._document = document
        self._references = references

    @cached_property
    def text(self) -> str:
        """As it was given, without what is only white space."""
        return write_json(self._document)

    def normalized(self) -> str:
        """Keys sorted on all levels."""
        return write_json(_sorted(self._document))

    def formatted(self, form: str) -> str:
        """Return the text: there is no other form."""
        return self.text

    @property
    def field_names(self) -> frozenset[str]:
        """The properties at the top level."""
        document = self._document
        properties = document.get("properties") if isinstance(document, dict) else None
        return frozenset(properties) if isinstance(properties, dict) else frozenset()

    @cached_property
    def root(self) -> Node:
        """The schema's model; raises InvalidSchemaError."""
        try:
            documents = Documents(self._document, self._references)
            modern = _draft(self._document) in _MODERN
            return load(self._document, documents, modern=modern)
        except RecursionError:
            raise InvalidSchemaError("the schema nests too deeply") from None
        except (TypeError, AttributeError, ValueError) as failure:
            if isinstance(failure, InvalidSchemaError):
                raise
            raise InvalidSchemaError(f"the schema is malformed: {failure}") from None

    def check_reads(self, writer: ParsedSchema, *, lenient: bool = False) -> list[Incompatibility]:
        """Return what the other schema accepts and this one does not."""
        assert isinstance(writer, JsonSchema)
        try:
            found = differences(writer.root, self.root, compare_nodes, lenient=lenient)
        except RecursionError:
            return [
                Incompatibility(
                    "TOO_DEEP", "#/", "the schemas nest too deeply to be compared", "Nest less",
                    "Nest less",
                )
            ]  # fmt: skip
        return [explain(kind, path) for kind, path in dict.fromkeys(found)]


def _check_against_meta_schema(document: Any) -> None:
    kind = _DRAFTS[_draft(document)]
    if isinstance(document, dict):
        # A draft that is not known is read as the default, as everybody does.
        document = {key: value for key, value in document.items() if key != "$schema"}
        document["$schema"] = _META_SCHEMAS[kind]
    try:
        jsonschema_rs.meta.validate(_plain(document))
    except jsonschema_rs.ValidationError as failure:
        place = "/".join(map(str, failure.instance_path))
        raise InvalidSchemaError(f"#/{place}: {failure.message[:500]}") from None
    except ValueError as failure:
        raise InvalidSchemaError(f"the schema is malformed: {failure}") from None


_META_SCHEMAS = {
    jsonschema_rs.Draft4: "http://json-schema.org/draft-04/schema#",
    jsonschema_rs.Draft6: "http://json-schema.org/draft-06/schema#",
    jsonschema_rs.Draft7: "http://json-schema.org/draft-07/schema#",
    jsonschema_rs.Draft201909: "https://json-schema.org/draft/2019-09/schema",
    jsonschema_rs.Draft202012: "https://json-schema.org/draft/2020-12/schema",
}


def _draft(document: Any) -> str:
    address = document.get("$schema") if isinstance(document, dict) else None
    for draft in _DRAFTS:
        if isinstance(address, str) and "json-schema.org" in address and draft in address:
            return draft
    return "draft-07"


def _plain(value: Any) -> Any:
    # Decimals are what keeps 1.10 as it is written; the validator wants floats.
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    return float(value)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value
