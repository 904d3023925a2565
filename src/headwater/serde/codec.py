"""One schema at work: what a format does with it, whatever the registry and the framing say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Codec(ABC):
    """A parsed schema that encodes and decodes payloads, without what the wire format adds."""

    # After which subjects can be named; None where the schema has no name.
    record_name: str | None

    @abstractmethod
    def encode(self, value: Any) -> bytes:
        """Return a value's payload; raises whatever says best why there is none."""

    @abstractmethod
    def decoder(self, reader: Codec | None) -> Callable[[bytes, int], Any]:
        """Return what decodes payloads of this schema, from a position on, as `reader` sees them.

        Without a reader, values are as they were written.
        """
