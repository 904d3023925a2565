"""JSON objects one after the other in a stream of bytes, cut apart as they come."""

from __future__ import annotations

import re

_OUTSIDE = re.compile(rb'["{}\[\]]')
_INSIDE = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"
_NO_SPACE = re.compile(rb"[^ \t\r\n]")


class JsonStreamError(ValueError):
    """What comes next cannot be an object; nothing after it can be found, either."""


class JsonObjects:
    """Collects bytes and returns whole objects; looks at each byte once, however small the parts.

    >>> objects = JsonObjects(100)
    >>> objects.feed(b'{"a": "}"} {"b"'), objects.feed(b': [1]}')
    ([b'{"a": "}"}'], [b'{"b": [1]}'])
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._position = 0  # what is before was looked at
        self._depth = 0
        self._is_text = False

    @property
    def is_between(self) -> bool:
        """Whether nothing but space has come since the last object."""
        return not self._bytes.strip(_SPACE)

    def feed(self, data: bytes) -> list[bytes]:
        """Take some bytes and return the objects that end in them; raises JsonStreamError."""
        self._bytes += data
        found: list[bytes] = []
        while (end := self._end()) is not None:
            found.append(bytes(self._bytes[:end]).strip(_SPACE))
            del self._bytes[:end]
            self._position = 0
        if len(self._bytes) > self._limit:
            raise JsonStreamError(f"a record is larger than {self._limit} bytes")
        return found

    def _end(self) -> int | None:
        """Return where the first object ends, or None where it does not yet."""
        if not self._depth:
            first = _NO_SPACE.search(self._bytes, self._position)
            if first is not None and first[0] != b"{":
                raise JsonStreamError("a record is a JSON object, which begins with {")
        while True:
            pattern = _INSIDE if self._is_text else _OUTSIDE
            match = pattern.search(self._bytes, self._position)
            if match is None:
                self._position = len(self._bytes)
                return None
            self._position = match.end()
            character = match[0]
            if character == b"\\":
                if self._position == len(self._bytes):
                    self._position -= 1  # what it escapes is still to come
                    return None
                self._position += 1
            elif character == b'"':
                self._is_text = not self._is_text
            elif character in b"{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self._depth = 0
                    return self._position
