"""Kafka's predicates: by a header, by the topic's name, and for tombstones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import NOT_EMPTY, ConfigError, ConfigType
from headwater.connect.data.sql_text import matches, text
from headwater.connect.transforms.settings import (
    JAVA_REGEX,
    PACKAGE,
    given_text,
    required,
    settings,
)

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.predicates.predicate import Predicate


@dataclass(frozen=True)
class HasHeaderKey:
    """True for records with a header of a name."""

    name: str
    class_name: ClassVar[str] = f"{PACKAGE}.predicates.HasHeaderKey"
    doc: ClassVar[str] = "True for records with at least one header of the name."
    definitions: ClassVar[Definitions] = settings(
        required("name", ConfigType.STRING, "The header's name.", NOT_EMPTY)
    )

    @classmethod
    def configured(cls, values: Values) -> Self:
        """Take the name."""
        return cls(given_text(values, "name"))

    def condition(self) -> str:
        """Return whether there is such a header."""
        return f"coalesce(exists(headers, h -> h.key = {text(self.name)}), false)"


@dataclass(frozen=True)
class RecordIsTombstone:
    """True for records without a value."""

    class_name: ClassVar[str] = f"{PACKAGE}.predicates.RecordIsTombstone"
    doc: ClassVar[str] = "True for records whose value is null."
    definitions: ClassVar[Definitions] = settings()

    @classmethod
    def configured(cls, values: Values) -> Self:
        """Make one: there is nothing to set."""
        del values
        return cls()

    def condition(self) -> str:
        """Return whether there is no value."""
        return "value is null"


@dataclass(frozen=True)
class TopicNameMatches:
    """True for records of topics whose whole name matches."""

    pattern: str
    class_name: ClassVar[str] = f"{PACKAGE}.predicates.TopicNameMatches"
    doc: ClassVar[str] = "True for records whose topic's name matches a Java regular expression."
    definitions: ClassVar[Definitions] = settings(
        required("pattern", ConfigType.STRING, "What matches the topic's whole name.", JAVA_REGEX)
    )

    @classmethod
    def configured(cls, values: Values) -> Self:
        """Take the expression."""
        return cls(given_text(values, "pattern"))

    def condition(self) -> str:
        """Return whether the name matches."""
        return f"coalesce({matches('topic', self.pattern)}, false)"


PREDICATES: tuple[type[Predicate], ...] = (HasHeaderKey, RecordIsTombstone, TopicNameMatches)


def predicate_class(class_name: str, setting: str) -> type[Predicate]:
    """Return the predicate of a class name; raises ConfigError, which names those there are."""
    found = next((each for each in PREDICATES if each.class_name == class_name), None)
    if found is None:
        names = ", ".join(each.class_name for each in PREDICATES)
        reason = f"there is no such predicate; there are {names}"
        raise ConfigError(setting, class_name, reason)
    return found
