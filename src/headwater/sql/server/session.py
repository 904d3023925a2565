"""What a request brings along: properties and variables, which its statements may change."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.sql.server.properties import checked, checked_name
from headwater.sql.variables import Variables


@dataclass
class Session:
    """The properties and variables of one request."""

    properties: dict[str, str] = field(default_factory=dict)
    variables: Variables = field(default_factory=Variables)

    def set(self, name: str, value: str) -> None:
        """Set a property; raises SqlError."""
        self.properties.update(checked({name: value}))

    def unset(self, name: str) -> None:
        """Forget a property; raises SqlError."""
        self.properties.pop(checked_name(name), None)
