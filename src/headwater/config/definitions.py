"""All settings of one service, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headwater.config.errors import MissingSettingError, UnknownSettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from headwater.config.definition import ConfigDef

_FEW = 25


class Definitions(Mapping[str, "ConfigDef"]):
    """The settings of a service; `service` is also its table in headwater.toml.

    `rest` gives further settings, of which there are many and which are rarely needed: it is
    called when somebody asks for a name that is not among the first ones, or for all. What starts
    with one of the `open_prefixes` belongs to somebody else, a client library for example, and is
    handed on as it is.
    """

    def __init__(
        self,
        service: str,
        *definitions: ConfigDef,
        rest: Callable[[], Iterable[ConfigDef]] | None = None,
        open_prefixes: tuple[str, ...] = (),
    ) -> None:
        self.service = service
        self.open_prefixes = open_prefixes
        self._known = {definition.name: definition for definition in definitions}
        self._rest = rest

    def __getitem__(self, name: str) -> ConfigDef:
        found = self._known.get(name)
        return found if found is not None else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def of(self, name: str) -> ConfigDef:
        """Return a setting's definition; raises UnknownSettingError, which may know a like one."""
        try:
            return self[name]
        except KeyError:
            raise self.unknown(name) from None

    def missing(self, given: Iterable[str]) -> list[MissingSettingError]:
        """Return an error for each setting that must be given and is not among the names."""
        names = set(given)
        return [
            MissingSettingError(definition.name)
            for definition in self._all().values()
            if definition.required and definition.name not in names
        ]

    def is_open(self, name: str) -> bool:
        """Whether a name that is not defined here is handed on to somebody else."""
        return bool(self.open_prefixes) and name.startswith(self.open_prefixes) and name not in self

    def unknown(self, name: str) -> UnknownSettingError:
        """Return the error for a name that does not exist, with the one that was likely meant."""
        from difflib import get_close_matches

        close = get_close_matches(name, self, n=1)
        if close:
            hint = f"; did you mean {close[0]}?"
        elif len(self) <= _FEW:
            prefixes = [f"{prefix}*" for prefix in self.open_prefixes]
            hint = f"; there are {', '.join(sorted([*self, *prefixes]))}"
        else:
            hint = ""
        return UnknownSettingError(name, f"there is no {self.service} setting of that name{hint}")

    def _all(self) -> dict[str, ConfigDef]:
        if self._rest is not None:
            self._known |= {definition.name: definition for definition in self._rest()}
            self._rest = None
        return self._known
