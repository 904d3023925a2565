"""Text as UTF-8, and bytes as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.serde.serializer import Deserializer, Serializer

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.context import Context


class StringSerializer(Serializer[str]):
    """Writes text.

    >>> StringSerializer()("Köln")
    b'K\\xc3\\xb6ln'
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def _encoder(self, context: Context) -> Callable[[str], bytes]:
        encoding = self._encoding

        def encode(value: str) -> bytes:
            if not isinstance(value, str):
                raise TypeError(f"a string is text, not {value!r}")
            return value.encode(encoding)

        return encode


class StringDeserializer(Deserializer[str]):
    """Reads text."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def _decode(self, data: bytes, context: Context) -> str:
        return data.decode(self._encoding)


class BytesSerializer(Serializer[bytes]):
    """Writes bytes, bytearrays and memoryviews as they are."""

    def _encoder(self, context: Context) -> Callable[[bytes], bytes]:
        return _as_bytes


class BytesDeserializer(Deserializer[bytes]):
    """Reads bytes as they are."""

    def _decode(self, data: bytes, context: Context) -> bytes:
        return data


def _as_bytes(value: bytes | bytearray | memoryview) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeError(f"bytes are wanted, not {value!r}")
    return bytes(value)
