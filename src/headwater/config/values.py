"""The values of a service's settings, with an accessor for each type."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config.definitions import Definitions
    from headwater.config.types import Value


class Values(dict[str, "Value"]):
    """Parsed values by name. A setting that nobody gave has its default; that is looked up late.

    >>> from headwater.config import ConfigDef, ConfigType, Definitions
    >>> rest = Definitions("rest", ConfigDef("port", ConfigType.INT, 8082, "The port."))
    >>> Values(rest, {}).integer("port"), Values(rest, {"port": "80"}).integer("port")
    (8082, 80)
    """

    def __init__(self, definitions: Definitions, given: Mapping[str, str]) -> None:
        super().__init__()
        self._definitions = definitions
        for name, text in given.items():
            if not definitions.is_open(name):
                self[name] = definitions.of(name).parse(text)

    def __missing__(self, name: str) -> Value:
        value = self[name] = self._definitions[name].default
        return value

    def boolean(self, name: str) -> bool:
        """Return the value of a BOOLEAN setting."""
        return cast("bool", self[name])

    def integer(self, name: str) -> int:
        """Return the value of an INT, SHORT or LONG setting that has one."""
        return cast("int", self[name])

    def double(self, name: str) -> float:
        """Return the value of a DOUBLE setting."""
        return cast("float", self[name])

    def text(self, name: str) -> str | None:
        """Return the value of a STRING, CLASS or PASSWORD setting."""
        return cast("str | None", self[name])

    def words(self, name: str) -> tuple[str, ...]:
        """Return the value of a LIST setting; without a value it is empty."""
        return cast("tuple[str, ...] | None", self[name]) or ()
