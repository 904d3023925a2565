"""What a schema format can do, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class InvalidSchemaError(ValueError):
    """A text is no schema of its format; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """One reason why data of one schema, the writer's, cannot be read with another, the reader's.

    `kind` is the name that Confluent's registry gives to it. In `message`, {reader} and {writer}
    stand for the two schemas, "new" and "old" or the reverse. Only the new one can still be
    changed, so there are two remedies, one for each case.
    """

    kind: str
    path: str
    message: str
    if_reader_is_new: str
    if_writer_is_new: str

    def describe(self, *, reader_is_new: bool) -> str:
        """Return all of it as one text, for a client to show."""
        reader, writer = ("new", "old") if reader_is_new else ("old", "new")
        message = self.message.replace("{reader}", reader).replace("{writer}", writer)
        remedy = self.if_reader_is_new if reader_is_new else self.if_writer_is_new
        return (
            f"{{errorType:'{self.kind}', path:'{self.path}', description:'{message}', "
            f"remedy:'{remedy}'}}"
        )


class ParsedSchema(ABC):
    """A schema that was understood."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The schema in its format's fixed layout: what is stored and compared."""

    @abstractmethod
    def normalized(self) -> str:
        """Return the text of its normal form, in which what has no order is sorted."""

    @abstractmethod
    def formatted(self, form: str) -> str:
        """Return the text in another form that the format offers, or as it is."""

    @abstractmethod
    def check_reads(self, writer: ParsedSchema, *, lenient: bool = False) -> list[Incompatibility]:
        """Return why this schema cannot read what the other one wrote; nothing if it can."""

    @property
    def field_names(self) -> frozenset[str]:
        """The fields at its top level, where it has any."""
        return frozenset()

    def check_field_names(self) -> None:
        """Refuse names that are kept for the registry's own use; raises InvalidSchemaError."""
        for name in sorted(self.field_names):
            if name.startswith("$$"):
                raise InvalidSchemaError(f"the field '{name}': names must not start with $$")


class SchemaFormat(ABC):
    """A kind of schemas."""

    name: str

    @abstractmethod
    def parse(
        self, text: str, references: Mapping[str, str], *, is_new: bool = True
    ) -> ParsedSchema:
        """Understand a schema; raises InvalidSchemaError.

        `references` has the texts of the schemas it refers to, directly or not, by the names they
        are referred to, each after those it needs itself. What is new is checked more strictly
        than what was accepted long ago.
        """
