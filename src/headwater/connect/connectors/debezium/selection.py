"""Which tables and columns are captured, and what their topics are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.config import Values

_NOT_IN_A_TOPIC = re.compile(r"[^a-zA-Z0-9._-]")


@dataclass(frozen=True)
class Names:
    """Names by regular expressions, which match a whole name, in upper or lower case alike."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]

    @classmethod
    def of(cls, config: Values, what: str) -> Self:
        """Take the lists of a kind, such as `table.include.list` and `table.exclude.list`."""
        return cls(config.words(f"{what}.include.list"), config.words(f"{what}.exclude.list"))

    def __contains__(self, name: str) -> bool:
        if self.include and not _matches(name, self.include):
            return False
        return not _matches(name, self.exclude)


@dataclass(frozen=True)
class Selection:
    """What is captured; an owner is what a table is in: `database` in MariaDB, else `schema`."""

    prefix: str
    owners: Names
    tables: Names
    columns: Names

    @classmethod
    def of(cls, config: Values, owner: str) -> Self:
        """Take the lists of a connector's configuration."""
        return cls(
            config.text("topic.prefix") or "",
            Names.of(config, owner),
            Names.of(config, "table"),
            Names.of(config, "column"),
        )

    def has_table(self, owner: str, name: str) -> bool:
        """Whether a table's changes are captured."""
        return owner in self.owners and f"{owner}.{name}" in self.tables

    def has_column(self, owner: str, table: str, name: str) -> bool:
        """Whether a column is part of the events; a key's columns always are part of the key."""
        return f"{owner}.{table}.{name}" in self.columns

    def topic(self, owner: str, name: str) -> str:
        """Return the topic of a table's events.

        >>> every = Names((), ())
        >>> Selection("shop", every, every, every).topic("sales", "my orders")
        'shop.sales.my_orders'
        """
        return _NOT_IN_A_TOPIC.sub("_", f"{self.prefix}.{owner}.{name}")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(pattern, name, re.IGNORECASE) for pattern in patterns)
