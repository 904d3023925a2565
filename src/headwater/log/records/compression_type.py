"""The names and numbers of the codecs that a batch may be compressed with."""

from __future__ import annotations

from enum import IntEnum

from headwater.log.errors import UnsupportedCompression


class CompressionType(IntEnum):
    """How the records of a batch are compressed; the numbers are those of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @property
    def config_name(self) -> str:
        """The codec's name in settings and in Kafka's tools."""
        return self.name.lower()

    @classmethod
    def from_name(cls, name: str) -> CompressionType:
        """Find a codec by a producer's (`none`) or a topic's (`uncompressed`) word for it."""
        try:
            return cls[_ALIASES.get(name.lower(), name.upper())]
        except KeyError:
            known = ", ".join(codec.config_name for codec in cls)
            raise UnsupportedCompression(
                f"There is no compression codec '{name}'; choose one of {known}."
            ) from None


_ALIASES = {"uncompressed": "NONE"}
