"""Settings as an operator wrote them, before anybody has parsed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from headwater.config.definitions import Definitions
    from headwater.config.errors import ConfigError


class Entry(NamedTuple):
    """A setting's text, and the place that it stands in, such as `server.properties, line 3`."""

    text: str
    place: str
    reference: str | None = None
    """What stands there instead of a text that is kept secret."""


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
        """Return what is wrong, with the place of the setting that the error is about.

        What was given by reference is not shown.
        """
        entry = self._entries.get(error.name)
        if entry is None:
            return str(error)
        said = str(error)
        if entry.reference is not None and entry.text.strip():
            said = said.replace(entry.text.strip(), entry.reference)
        return f"{entry.place}: {said}"

    def resolved(self, definitions: Definitions | None = None) -> Given:
        """Return the settings with what their references stand for.

        What `definitions` hand on to somebody else is left to them. Raises
        UnresolvedReferenceError, which says where the reference stands.
        """
        if not any("${" in entry.text for entry in self._entries.values()):
            return self
        from headwater.config.references import References, UnresolvedReferenceError, has_reference

        references = References()
        entries = dict(self._entries)
        for name, entry in self._entries.items():
            is_ours = definitions is None or not definitions.is_open(name)
            if is_ours and has_reference(entry.text):
                try:
                    text = references.resolve(entry.text)
                except UnresolvedReferenceError as failure:
                    raise UnresolvedReferenceError(f"{entry.place}: {name}: {failure}") from None
                entries[name] = Entry(text, entry.place, entry.text)
        return Given(entries)
