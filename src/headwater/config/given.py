"""Settings as an operator wrote them, before anybody has parsed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from headwater.config.errors import ConfigError


class Entry(NamedTuple):
    """A setting's text, and the place that it stands in, such as `server.properties, line 3`."""

    text: str
    place: str


class Given(Mapping[str, str]):
    """The text of each setting that was given, and where it stands.

    >>> file = Given({"num.partitions": Entry("3", "server.properties, line 1")})
    >>> given = file | Given({"num.partitions": Entry("x", "--property")})
    >>> given["num.partitions"], given.place("num.partitions")
    ('x', '--property')
    """

    def __init__(self, entries: Mapping[str, Entry] | None = None) -> None:
        self._entries = dict(entries or {})

    def __getitem__(self, name: str) -> str:
        return self._entries[name].text

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __or__(self, above: Given) -> Given:
        return Given(self._entries | above._entries)

    def place(self, name: str) -> str | None:
        """Return where a setting stands; None for one that was not given."""
        entry = self._entries.get(name)
        return None if entry is None else entry.place

    def explain(self, error: ConfigError) -> str:
        """Return what is wrong, with the place of the setting that the error is about."""
        place = self.place(error.name)
        return str(error) if place is None else f"{place}: {error}"
