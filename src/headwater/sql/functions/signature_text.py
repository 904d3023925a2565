"""Signatures out of text, as the catalogue writes them: `(array ARRAY<T>, element T) BOOLEAN`.

A word of the types is that type. `DECIMAL` is a decimal of any digits, `ANY` any type, `UNIT` a
unit of time, another single capital a variable. `LAMBDA<K, V => R>` is a lambda, three dots after a
shape take any number of arguments, brackets around a parameter make it and those after it optional,
and a result in lower case is the name of a rule.
"""

from __future__ import annotations

import re

from headwater.sql.functions.signature import (
    AnyDecimal,
    AnyType,
    ArrayOf,
    Computed,
    Exactly,
    LambdaOf,
    MapOf,
    Parameter,
    Shape,
    Signature,
    StructOf,
    UnitOfTime,
    Variable,
)
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
)

_EXACT = {
    type_.name: Exactly(type_)
    for type_ in (BOOLEAN, INTEGER, BIGINT, DOUBLE, STRING, BYTES, TIME, DATE, TIMESTAMP)
}
_OPEN: dict[str, Shape] = {"DECIMAL": AnyDecimal(), "ANY": AnyType(), "UNIT": UnitOfTime()}
_TOKEN = re.compile(r"\s*(\.\.\.|=>|[A-Za-z_][A-Za-z0-9_]*|[<>(),\[\]])")


def signatures(text: str) -> tuple[Signature, ...]:
    """Return the signatures of a text: several, if some of its parameters are optional."""
    return _Reader(text).signatures()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        if "".join(self._tokens) != re.sub(r"\s+", "", text):
            raise ValueError(f"no signature: {text!r}")

    def signatures(self) -> tuple[Signature, ...]:
        self._take("(")
        parameters: list[Parameter] = []
        counts: list[int] = []
        while not self._skip(")"):
            if self._skip("["):
                counts.append(len(parameters))
            parameters.append(self._parameter())
            self._skip("]")
            self._skip(",")
        counts.append(len(parameters))
        result = self._shape()
        if self._at != len(self._tokens):
            raise ValueError(f"more than a signature: {self._text!r}")
        return tuple(Signature(tuple(parameters[:count]), result) for count in counts)

    def _parameter(self) -> Parameter:
        name, shape = self._next(), self._shape()
        return Parameter(name, shape, self._skip("..."))

    def _shape(self) -> Shape:
        word = self._next()
        if word in _EXACT:
            return _EXACT[word]
        if word in _OPEN:
            return _OPEN[word]
        if word.islower():
            return Computed(word)
        if len(word) == 1:
            return Variable(word)
        self._take("<")
        match word:
            case "ARRAY":
                shape: Shape = ArrayOf(self._shape())
            case "MAP":
                key = self._shape()
                self._take(",")
                shape = MapOf(key, self._shape())
            case "STRUCT":
                shape = StructOf(tuple(self._fields()))
            case "LAMBDA":
                shape = self._lambda()
            case _:
                raise ValueError(f"{word} is no shape: {self._text!r}")
        self._take(">")
        return shape

    def _fields(self) -> list[tuple[str, Shape]]:
        fields = [(self._next(), self._shape())]
        while self._skip(","):
            fields.append((self._next(), self._shape()))
        return fields

    def _lambda(self) -> Shape:
        parameters = [self._shape()]
        while self._skip(","):
            parameters.append(self._shape())
        self._take("=>")
        return LambdaOf(tuple(parameters), self._shape())

    def _next(self) -> str:
        if self._at == len(self._tokens):
            raise ValueError(f"the signature has no end: {self._text!r}")
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _skip(self, token: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == token
        self._at += found
        return found

    def _take(self, token: str) -> None:
        if not self._skip(token):
            raise ValueError(f"{token} is missing: {self._text!r}")
