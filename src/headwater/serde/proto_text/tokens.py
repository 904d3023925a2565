"""Splits the text of a .proto file into tokens, each with the place where it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from headwater.serde.proto_text.errors import ProtoSyntaxError

END = ""


class Token(NamedTuple):
    """A piece of text; `kind` is "word", "number", "string", "symbol" or "end"."""

    kind: str
    text: str
    position: int


@dataclass(slots=True)
class Tokens:
    """The tokens of a text with a place to read from."""

    source: str
    _tokens: list[Token]
    _next: int = 0

    @classmethod
    def of(cls, source: str) -> Tokens:
        """Split a text; raises ProtoSyntaxError at what is no token."""
        tokens: list[Token] = []
        position = 0
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                raise ProtoSyntaxError(
                    f"{_place(source, position)}: {_complaint(source, position)}"
                )
            if match.lastgroup != "blank":
                assert match.lastgroup is not None
                tokens.append(Token(match.lastgroup, match[0], position))
            position = match.end()
        tokens.append(Token("end", END, len(source)))
        return cls(source, tokens)

    def peek(self) -> Token:
        """Return the next token without taking it."""
        return self._tokens[self._next]

    def take(self) -> Token:
        """Take the next token."""
        token = self._tokens[self._next]
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, *texts: str) -> str | None:
        """Take the next token if it is one of these words or symbols."""
        token = self._tokens[self._next]
        if token.text in texts and token.kind in ("word", "symbol"):
            self._next += 1
            return token.text
        return None

    def expect(self, text: str) -> None:
        """Take this word or symbol, or complain."""
        if self.accept(text) is None:
            self.fail(f"expected '{text}'")

    def word(self, what: str) -> str:
        """Take a word, e.g. a name."""
        token = self.take()
        if token.kind != "word":
            self.fail(f"expected {what}", token)
        return token.text

    def identifier(self, what: str) -> str:
        """Take a name that has no dots in it."""
        token = self.peek()
        name = self.word(what)
        if "." in name:
            self.fail(f"expected {what} without dots", token)
        return name

    def type_name(self, what: str) -> str:
        """Take a type's name, whose parts may stand on several lines."""
        return self.rest_of_name(self.word(what))

    def rest_of_name(self, start: str) -> str:
        """Take what follows of a name: its next part may begin a line, with or without its dot."""
        while self.peek().text.startswith(".") or start.endswith("."):
            start += (
                self.take().text if self.peek().text == "." else self.word("a name's next part")
            )
        return start

    def integer(self, what: str) -> int:
        """Take a whole number; a minus sign may stand before it."""
        sign = -1 if self.accept("-") else 1
        token = self.take()
        if token.kind == "number":
            try:
                return sign * to_integer(token.text)
            except ValueError:
                pass
        self.fail(f"expected {what}", token)
        raise AssertionError

    def string(self, what: str) -> str:
        """Take a string; several in a row are one, as in C."""
        token = self.take()
        if token.kind != "string":
            self.fail(f"expected {what} in quotes", token)
        parts = [self._unquoted(token)]
        while self.peek().kind == "string":
            parts.append(self._unquoted(self.take()))
        return "".join(parts)

    def fail(self, complaint: str, token: Token | None = None) -> None:
        """Raise ProtoSyntaxError for a token, the next one by default."""
        token = token or self.peek()
        found = f"found '{token.text[:40]}'" if token.kind != "end" else "the text ends"
        raise ProtoSyntaxError(f"{_place(self.source, token.position)}: {complaint}, {found}")

    def _unquoted(self, token: Token) -> str:
        def replace(match: re.Match[str]) -> str:
            escape = match[1]
            if escape in _ESCAPES:
                return _ESCAPES[escape]
            if escape[0] in "xX":
                return chr(int(escape[1:], 16))
            if escape[0] in "uU":
                code = int(escape[1:], 16)
                if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                    self.fail(f"\\{escape} is no character", token)
                return chr(code)
            if escape[0] in "01234567":
                return chr(int(escape, 8) & 0xFF)
            self.fail(f"unknown escape \\{escape}", token)
            raise AssertionError

        return _ESCAPE.sub(replace, token.text[1:-1])


def to_integer(text: str) -> int:
    """Read a number in decimal, octal (017) or hexadecimal (0x1F); raises ValueError."""
    if text[:2].lower() == "0x":
        return int(text, 16)
    if len(text) > 1 and text[0] == "0" and text.isdigit():
        return int(text, 8)
    return int(text)


_TOKEN = re.compile(
    r"""
    (?P<blank>  (?: \s+ | //[^\n]* | /\*.*?\*/ | \ufeff )+ )
  | (?P<string> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<number> 0[xX][0-9a-fA-F]+(?!\w) | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?(?!\w) )
  | (?P<word>   \.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)* )
  | (?P<symbol> [{}()\[\]<>;=,:.+-] | /(?!\*) )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{1,2}|X[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)",
    re.DOTALL,
)
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def _place(source: str, position: int) -> str:
    line = source.count("\n", 0, position) + 1
    column = position - (source.rfind("\n", 0, position) + 1) + 1
    return f"line {line}, column {column}"


def _complaint(source: str, position: int) -> str:
    character = source[position]
    if character in "\"'":
        return "a string that does not end on its line"
    if source.startswith("/*", position):
        return "a comment that does not end"
    if character.isdigit():
        return "a malformed number"
    return f"unexpected character {character!r}"
