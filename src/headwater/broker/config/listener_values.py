"""The settings of one listener: what was given for it, and the broker's where nothing was."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headwater.broker.config.names import LISTENER_PREFIX

if TYPE_CHECKING:
    from headwater.config import Value, Values


class ListenerValues:
    """Reads `listener.name.LISTENER.NAME`, and `NAME` where that was not given.

    With a SASL mechanism, `listener.name.LISTENER.MECHANISM.NAME`.
    """

    def __init__(self, values: Values, listener: str, mechanism: str | None = None) -> None:
        self._values = values
        self._prefix = f"{LISTENER_PREFIX}{listener.lower()}."
        if mechanism is not None:
            self._prefix += f"{mechanism.lower()}."

    def own_text(self, name: str) -> str | None:
        """Return the value of a STRING setting that was given for this listener alone."""
        return cast("str | None", self._values.get(self._prefix + name))

    def text(self, name: str) -> str | None:
        """Return the value of a STRING, CLASS or PASSWORD setting."""
        return cast("str | None", self._value(name))

    def words(self, name: str) -> tuple[str, ...]:
        """Return the value of a LIST setting; without a value it is empty."""
        return cast("tuple[str, ...] | None", self._value(name)) or ()

    def integer(self, name: str) -> int:
        """Return the value of an INT, SHORT or LONG setting that has one."""
        return cast("int", self._value(name))

    def _value(self, name: str) -> Value:
        values, own = self._values, self._prefix + name
        return values[own] if own in values else values[name]
