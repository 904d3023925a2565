"""Where the columns of a source come from that declares none: the registry, by a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.types.sql_type import SqlType


class SchemaLookup(Protocol):
    """Finds the schema of a topic's keys or values."""

    def find(self, topic: str, chosen: ChosenFormat, *, is_key: bool) -> SqlType | None:
        """Return the type that the registry's schema says, a Struct for a record; None if none.

        With `schema_id` in the chosen format it is the schema of that id, otherwise the latest of
        the topic's subject.
        """
        ...


class NoSchemas:
    """A registry that is not there."""

    def find(self, topic: str, chosen: ChosenFormat, *, is_key: bool) -> SqlType | None:
        """Return None: there is no schema of anything."""
        return None
