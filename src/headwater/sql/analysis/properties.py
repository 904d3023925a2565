"""The WITH clause: which properties a statement may have, and what their values are."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.location import NOWHERE, Location
from headwater.sql.metastore.formats import ChosenFormat, SerdeFormat, find_format
from headwater.sql.tree.expressions import BooleanLiteral, IntegerLiteral, NullLiteral
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.sql.tree.statements.properties import Property

_OF_RESULTS = (
    "KAFKA_TOPIC", "PARTITIONS", "REPLICAS", "RETENTION_MS", "CLEANUP_POLICY", "FORMAT",
    "KEY_FORMAT", "VALUE_FORMAT", "KEY_DELIMITER", "VALUE_DELIMITER", "TIMESTAMP",
    "TIMESTAMP_FORMAT", "WRAP_SINGLE_VALUE", "KEY_SCHEMA_ID", "VALUE_SCHEMA_ID",
    "KEY_SCHEMA_FULL_NAME", "VALUE_SCHEMA_FULL_NAME", "VALUE_AVRO_SCHEMA_FULL_NAME",
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION", "VALUE_PROTOBUF_NULLABLE_REPRESENTATION",
)  # fmt: skip
OF_QUERIES = frozenset((*_OF_RESULTS, "QUERY_ID"))
OF_SOURCES = frozenset((*_OF_RESULTS, "WINDOW_TYPE", "WINDOW_SIZE", "SOURCED_BY_CONNECTOR"))
OF_INSERTS = frozenset(("QUERY_ID",))

# The settings that say which formats a statement means that names none.
DEFAULT_KEY_FORMAT = "ksql.persistence.default.format.key"
DEFAULT_VALUE_FORMAT = "ksql.persistence.default.format.value"

_DELIMITERS = {"TAB": "\t", "SPACE": " "}


class Properties:
    """The properties of one statement; a name that it does not have is refused."""

    def __init__(self, given: Sequence[Property], allowed: frozenset[str]) -> None:
        self._given = {property_.name.upper(): property_ for property_ in given}
        for name, property_ in self._given.items():
            if name not in allowed:
                close = difflib.get_close_matches(name, allowed, n=1)
                hint = f"did you mean {close[0]}?" if close else f"it has {_listed(allowed)}"
                raise SqlError(
                    f"the WITH clause has no property {name}; {hint}", property_.location
                )

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def location(self, name: str) -> Location:
        """Return where a property is given."""
        return self._given[name].location if name in self._given else NOWHERE

    def text(self, name: str) -> str | None:
        """Return a text, or None if it is not given."""
        given = self._given.get(name)
        if given is None or isinstance(given.value, NullLiteral):
            return None
        return str(given.value.value)

    def number(self, name: str) -> int | None:
        """Return a whole number, or None if it is not given."""
        text = self.text(name)
        if text is None:
            return None
        value = self._given[name].value
        if not isinstance(value, IntegerLiteral) and not text.lstrip("-").isdecimal():
            raise SqlError(f"{name} is a whole number, not {text}", self.location(name))
        return int(text)

    def truth(self, name: str) -> bool | None:
        """Return true or false, or None if it is not given."""
        given = self._given.get(name)
        if given is None:
            return None
        if isinstance(given.value, BooleanLiteral):
            return given.value.value
        text = str(self.text(name)).lower()
        if text not in ("true", "false"):
            raise SqlError(f"{name} is true or false, not {text}", given.location)
        return text == "true"

    def format(
        self, side: str, fallback: ChosenFormat | None, settings: Mapping[str, str]
    ) -> ChosenFormat | None:
        """Return the format of keys (`side` is KEY) or values; `fallback` is the source's."""
        chosen = self._named_format(side, settings)
        if chosen is None:
            if fallback is None:
                return None
            chosen = fallback.format
        properties = self._format_properties(side, chosen)
        if not properties and fallback is not None and fallback.format == chosen:
            # The name is one of the source's own schema.
            properties = tuple(p for p in fallback.properties if p[0] != "FULL_SCHEMA_NAME")
        schema_id = self.number(f"{side}_SCHEMA_ID")
        if schema_id is not None and not chosen.is_in_registry:
            raise SqlError(
                f"{side}_SCHEMA_ID needs a {side}_FORMAT with schemas in the registry, and "
                f"{chosen.name} has none",
                self.location(f"{side}_SCHEMA_ID"),
            )
        return ChosenFormat(chosen, properties, schema_id)

    def _named_format(self, side: str, settings: Mapping[str, str]) -> SerdeFormat | None:
        own = f"{side}_FORMAT"
        if own in self and "FORMAT" in self:
            raise SqlError(
                f"{own} and FORMAT cannot both be given: FORMAT is that of keys and values",
                self.location(own),
            )
        name = own if own in self else "FORMAT"
        text = self.text(name)
        if text is None:
            default = DEFAULT_KEY_FORMAT if side == "KEY" else DEFAULT_VALUE_FORMAT
            text = settings.get(default)
        if text is None:
            return None
        try:
            return find_format(text)
        except TypeMismatchError as error:
            raise SqlError(str(error), self.location(name)) from None

    def _format_properties(self, side: str, chosen: SerdeFormat) -> tuple[tuple[str, str], ...]:
        own = {
            f"{side}_DELIMITER": "DELIMITER",
            f"{side}_SCHEMA_FULL_NAME": "FULL_SCHEMA_NAME",
            f"{side}_AVRO_SCHEMA_FULL_NAME": "FULL_SCHEMA_NAME",
            f"{side}_PROTOBUF_NULLABLE_REPRESENTATION": "NULLABLE_REPRESENTATION",
        }
        found: list[tuple[str, str]] = []
        for property_, name in own.items():
            text = self.text(property_)
            if text is None:
                continue
            location = self.location(property_)
            if name not in chosen.takes:
                raise SqlError(f"the {chosen.name} format has no {property_}", location)
            if name == "DELIMITER":
                text = _delimiter(property_, text, location)
            elif not text.strip():
                raise SqlError(f"{property_} is empty", location)
            found.append((name, text))
        return tuple(found)


def _delimiter(property_: str, text: str, location: Location) -> str:
    if text.upper() in _DELIMITERS:
        return _DELIMITERS[text.upper()]
    if not text.strip():
        raise SqlError(f"{property_} is empty: write SPACE or TAB for one of those", location)
    if len(text) > 1:
        raise SqlError(f"{property_} is one letter, or SPACE or TAB, not '{text}'", location)
    return text


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
