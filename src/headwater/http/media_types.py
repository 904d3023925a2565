"""Content negotiation: which of a service's media types a client wants, and may send."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from headwater.http.answers import JSON

if TYPE_CHECKING:
    from collections.abc import Callable

_REMEMBERED = 256


@dataclass(frozen=True)
class MediaTypes:
    """The types that a service answers with, the preferred one first, and those that it takes."""

    offered: tuple[str, ...] = (JSON,)
    taken: tuple[str, ...] = ()  # besides those that are offered
    negotiate: Callable[[bytes | None], str | None] = field(init=False)

    def __post_init__(self) -> None:
        # Clients send the same few headers for ever.
        object.__setattr__(self, "negotiate", lru_cache(_REMEMBERED)(self._negotiate))

    @property
    def default(self) -> str:
        """What a client gets that does not say what it wants."""
        return self.offered[0]

    def takes(self, content_type: bytes | None) -> bool:
        """Return whether a request's body may be of this type."""
        if content_type is None:
            return True
        media = content_type.decode("latin-1").split(";")[0].strip().lower()
        return not media or media in self.offered or media in self.taken

    def _negotiate(self, accept: bytes | None) -> str | None:
        """Return the content type to answer with; None if the client takes none of ours."""
        if accept is None or not accept.strip():
            return self.default
        best: tuple[float, int, str] | None = None
        for part in accept.decode("latin-1").split(","):
            media, *parameters = (each.strip().lower() for each in part.split(";"))
            quality = 1.0
            for parameter in parameters:
                if parameter.startswith("q="):
                    try:
                        quality = float(parameter[2:])
                    except ValueError:
                        quality = 0.0
            for rank, offered in enumerate(self.offered):
                if quality > 0 and _matches(media, offered):
                    found = (-quality, rank, offered)
                    best = found if best is None else min(best, found)
        return None if best is None else best[2]


def _matches(wanted: str, offered: str) -> bool:
    type_, slash, subtype = wanted.partition("/")
    if type_ == "*":
        # `*` alone is how some clients write */*; and any type is one, whatever comes after it.
        return True
    return wanted == offered or (subtype == "*" and offered.startswith(f"{type_}{slash}"))
