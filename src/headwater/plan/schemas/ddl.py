"""Reads types from Spark's DDL text: `id string, value double` or `array<int>`."""

from __future__ import annotations

import re
from typing import NamedTuple

from headwater.plan.schemas.types import (
    INTERVAL,
    PRIMITIVES,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Primitive,
    Struct,
    TypeTextError,
)

_TOKEN = re.compile(r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)|(?P<word>\w+)|(?P<sign>[<>(),:]))")
_ALIASES = {
    "bool": "boolean", "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint",
    "real": "float", "text": "string", "bytes": "binary", "timestamp_ltz": "timestamp",
    "null": "void",
}  # fmt: skip


def parse_ddl(text: str) -> DataType:
    """Read a type, or a list of fields, which is a struct."""
    reader = _Reader(text)
    is_list = reader.is_field_list()
    parsed = Struct(reader.fields(end=None)) if is_list else reader.type()
    reader.expect_end()
    return parsed


class _Token(NamedTuple):
    text: str
    position: int
    quoted: bool


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0

    def is_field_list(self) -> bool:
        """A name that is followed by a type or a colon; `decimal(3)` and `array<..>` are not."""
        if len(self._tokens) < 2 or self._text.split()[:2] == ["interval", "day"]:
            return False
        return self._tokens[0].quoted or self._tokens[1].text not in tuple("<>(),")

    def fields(self, end: str | None) -> tuple[Field, ...]:
        found: list[Field] = []
        while not found or self._take(","):
            name = self._name()
            self._take(":")
            type_ = self.type()
            nullable = not self._take("not")
            if not nullable and not self._take("null"):
                raise self._error("expected NULL after NOT")
            if any(field.name.lower() == name.lower() for field in found):
                raise TypeTextError(f"the field {name!r} appears twice in {self._text!r}")
            found.append(Field(name, type_, nullable))
        if end is not None:
            self._expect(end)
        return tuple(found)

    def type(self) -> DataType:
        name = self._name().lower()
        if name == "array":
            self._expect("<")
            array = Array(self.type())
            self._expect(">")
            return array
        if name == "map":
            self._expect("<")
            key = self.type()
            self._expect(",")
            value = self.type()
            self._expect(">")
            return Map(key, value)
        if name == "struct":
            self._expect("<")
            return Struct(()) if self._take(">") else Struct(self.fields(end=">"))
        if name in ("decimal", "dec", "numeric"):
            return self._decimal()
        if name in ("varchar", "char") and self._take("("):
            self._number()
            self._expect(")")
            return PRIMITIVES["string"]
        if name == "interval":
            for word in ("day", "to", "second"):
                self._expect(word)
            return INTERVAL
        return self._primitive(name)

    def expect_end(self) -> None:
        if self._at < len(self._tokens):
            raise self._error("expected the end")

    def _primitive(self, name: str) -> Primitive:
        found = PRIMITIVES.get(_ALIASES.get(name, name))
        if found is None:
            self._at -= 1
            names = ", ".join(sorted(PRIMITIVES))
            raise self._error(
                f"there is no type {name!r} (there are {names}, decimal(p,s), array<..>, "
                "map<..,..> and struct<..>)"
            )
        return found

    def _decimal(self) -> Decimal:
        if not self._take("("):
            return Decimal()
        precision = self._number()
        scale = self._number() if self._take(",") else 0
        self._expect(")")
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise TypeTextError(f"decimal({precision},{scale}): 38 digits are the most there are")
        return Decimal(precision, scale)

    def _number(self) -> int:
        name = self._name()
        if not name.isdecimal():
            self._at -= 1
            raise self._error("expected a number")
        return int(name)

    def _name(self) -> str:
        if self._at == len(self._tokens) or self._tokens[self._at].text in tuple("<>(),:"):
            raise self._error("expected a name")
        token = self._tokens[self._at]
        self._at += 1
        return token.text[1:-1].replace("``", "`") if token.quoted else token.text

    def _take(self, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].text.lower() == text:
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._error(f"expected {text!r}")

    def _error(self, reason: str) -> TypeTextError:
        position = len(self._text)
        if self._at < len(self._tokens):
            position = self._tokens[self._at].position
        return TypeTextError(f"cannot read the type {self._text!r}: {reason} at {position}")


def _tokens(text: str) -> list[_Token]:
    found = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise TypeTextError(f"cannot read the type {text!r} at {position}: {text[position:]!r}")
        token = match[match.lastgroup or 0]
        found.append(_Token(token, match.start(match.lastgroup or 0), match["quoted"] is not None))
        position = match.end()
    return found
