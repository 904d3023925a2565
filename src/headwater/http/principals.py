"""Who is asking."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    """Somebody, by Kafka's kind of name: a type and a name, `User:ann`."""

    name: str
    type: str = "User"
    method: str = ""  # how we know: "BASIC", "SSL"; nothing for whoever did not say

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS = Principal("ANONYMOUS")
