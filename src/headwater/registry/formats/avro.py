"""Avro: parsed by our own reader, compared by the official library's checker."""

from __future__ import annotations

import json
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException, AvroWarning
from avro.schema import parse as parse_official

from headwater.registry.formats.avro_explanation import explain
from headwater.registry.formats.avro_schema import AvroReader, AvroType
from headwater.registry.formats.avro_text import bare_schema, canonical_text, normalized_text
from headwater.registry.formats.base import (
    Incompatibility,
    InvalidSchemaError,
    ParsedSchema,
    SchemaFormat,
)
from headwater.registry.formats.effort import MOST_DIFFERENCES
from headwater.registry.formats.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

warnings.filterwarnings("ignore", category=AvroWarning)


class AvroFormat(SchemaFormat):
    """Avro schemas; a reference's schema is used by the full name of the type it declares."""

    name = "AVRO"

    def parse(self, text: str, references: Mapping[str, str], *, is_new: bool = True) -> AvroSchema:
        """Understand an Avro schema; raises InvalidSchemaError."""
        reader = AvroReader(check_defaults=is_new)
        try:
            for name, referred in references.items():
                try:
                    reader.read(parse_json(referred))
                except InvalidSchemaError as failure:
                    raise InvalidSchemaError(f"the reference {name}: {failure}") from None
            declared_elsewhere = frozenset(reader.names)
            return AvroSchema(reader.read(parse_json(text)), declared_elsewhere)
        except RecursionError:
            raise InvalidSchemaError("the schema nests too deeply") from None


class AvroSchema(ParsedSchema):
    """An Avro schema with the types it refers to."""

    def __init__(self, root: AvroType, declared_elsewhere: frozenset[str]) -> None:
        self.root = root
        self._elsewhere = declared_elsewhere

    @cached_property
    def text(self) -> str:
        """As Java's Avro library prints it."""
        return canonical_text(self.root, self._elsewhere)

    def normalized(self) -> str:
        """Properties and aliases sorted, empty docs left out."""
        return normalized_text(self.root, self._elsewhere)

    def formatted(self, form: str) -> str:
        """Return the text, or with "resolved" one that needs no references."""
        return canonical_text(self.root) if form == "resolved" else self.text

    @property
    def field_names(self) -> frozenset[str]:
        """The fields of a record."""
        return frozenset(field.name for field in self.root.fields)

    def check_reads(self, writer: ParsedSchema, *, lenient: bool = False) -> list[Incompatibility]:
        """Ask the official checker, and say in our words what it found."""
        assert isinstance(writer, AvroSchema)
        checker: Any = ReaderWriterCompatibilityChecker
        try:
            # First, since it knows when to give up: the official checker lists every place.
            reasons = explain(self.root, writer.root)
            if len(reasons) >= MOST_DIFFERENCES:
                return reasons
            result = checker().get_compatibility(self._official, writer._official)  # noqa: SLF001
            if result.compatibility is SchemaCompatibilityType.compatible:
                return []
        except RecursionError:
            return [_only("TOO_DEEP", "the schemas nest too deeply to be compared", "Nest less")]
        if reasons:
            return reasons
        messages = "; ".join(sorted(result.messages))
        return [_only("INCOMPATIBLE", messages, "Undo what was changed there")]

    @cached_property
    def _official(self) -> Any:
        try:
            return parse_official(json.dumps(bare_schema(self.root)), validate_enum_symbols=False)
        except (AvroException, AttributeError, TypeError, ValueError) as failure:
            raise InvalidSchemaError(f"the Avro library refuses the schema: {failure}") from None


def _only(kind: str, message: str, remedy: str) -> Incompatibility:
    return Incompatibility(kind, "/", message, remedy, remedy)
