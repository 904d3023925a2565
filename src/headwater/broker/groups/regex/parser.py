"""Reads a regular expression in RE2's syntax; what only backtracking could match is refused."""

from __future__ import annotations

import re

from headwater.broker.groups.regex.char_classes import ALPHABET, PERL, POSIX, of_category
from headwater.broker.groups.regex.syntax import (
    Assertion,
    Chars,
    Choice,
    Node,
    Repeat,
    Sequence,
    Where,
)

__all__ = ["ALPHABET", "RegexError", "parse"]

MAX_REPEAT = 1000
"""The most that RE2 lets a part be repeated."""
MAX_DEPTH = 100

_QUANTIFIER = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_GROUP_NAME = re.compile(r"\(\?P?<([A-Za-z0-9_]+)>")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_ASSERTIONS = {
    "A": Where.START,
    "z": Where.END,
    "b": Where.WORD_BOUNDARY,
    "B": Where.NO_WORD_BOUNDARY,
}
_ESCAPED = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}


class RegexError(ValueError):
    """Not a regular expression that can be matched; says why."""


def parse(text: str) -> Node:
    """Read a whole expression."""
    parser = _Parser(text)
    node = parser.choice(0)
    if parser.position < len(text):
        raise RegexError("a ) closes nothing")
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.ignores_case = False
        self.names: set[str] = set()

    def choice(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise RegexError(f"groups lie within each other more than {MAX_DEPTH} deep")
        before = self.ignores_case
        options = [self.sequence(depth)]
        while self._take("|"):
            options.append(self.sequence(depth))
        # A flag that is set inside a group ends with it.
        self.ignores_case = before
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.position < len(self.text) and self.text[self.position] not in "|)":
            if self._take("\\Q"):
                parts += self._quoted()
                part = parts.pop() if parts else None
            else:
                part = self._atom(depth)
            if part is not None:
                parts.append(self._repeated(part))
            elif parts:
                # After flags alone, RE2 repeats what came before them.
                parts[-1] = self._repeated(parts[-1])
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _atom(self, depth: int) -> Node | None:
        char = self.text[self.position]
        if char == "(":
            return self._group(depth)
        if char == "[":
            return Chars(self._char_class())
        if char == "\\":
            return self._escape()
        if char in "*+?" or _QUANTIFIER.match(self.text, self.position):
            raise RegexError(f"{char} has nothing to repeat")
        self.position += 1
        if char == ".":
            return Chars(ALPHABET)
        if char == "^":
            return Assertion(Where.START)
        if char == "$":
            return Assertion(Where.END)
        return Chars(self._cased(char))

    def _group(self, depth: int) -> Node | None:
        rest = self.text[self.position :]
        if not rest.startswith("(?"):
            self.position += 1
        elif flags := _FLAGS.match(rest):
            self.position += flags.end()
            before = self.ignores_case
            self.ignores_case = ("i" in flags[1] or before) and "i" not in (flags[2] or "")
            if flags[3] == ")":
                return None
            inner = self._until_closed(depth)
            self.ignores_case = before
            return inner
        elif name := _GROUP_NAME.match(rest):
            self.position += name.end()
            if name[1] in self.names:
                raise RegexError(f"two groups are called {name[1]}")
            self.names.add(name[1])
        else:
            raise RegexError(f"{rest[:4]} is not known, or takes backtracking")
        return self._until_closed(depth)

    def _until_closed(self, depth: int) -> Node:
        inner = self.choice(depth + 1)
        if not self._take(")"):
            raise RegexError("a ( is not closed")
        return inner

    def _repeated(self, part: Node) -> Node:
        is_repeated = False
        while limits := self._quantifier():
            if is_repeated:
                raise RegexError("what is repeated already cannot be repeated again")
            is_repeated = True
            # Whether it prefers more or less makes no difference to whether the whole matches.
            self._take("?")
            part = Repeat(part, *limits)
        return part

    def _quantifier(self) -> tuple[int, int | None] | None:
        for char, limits in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(char):
                return limits
        counted = _QUANTIFIER.match(self.text, self.position)
        if counted is None:
            return None
        self.position = counted.end()
        least = int(counted[1])
        most = least if counted[2] is None else int(counted[3]) if counted[3] else None
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            raise RegexError(f"{counted[0]} is no number of times up to {MAX_REPEAT}")
        return least, most

    def _escape(self) -> Node:
        following = self.text[self.position + 1 : self.position + 2]
        where = _ASSERTIONS.get(following)
        if where is not None:
            self.position += 2
            return Assertion(where)
        return Chars(self._escaped_set())

    def _quoted(self) -> list[Chars]:
        end = self.text.find("\\E", self.position)
        literal = self.text[self.position :] if end < 0 else self.text[self.position : end]
        self.position = len(self.text) if end < 0 else end + 2
        return [Chars(self._cased(char)) for char in literal]

    def _escaped_set(self) -> frozenset[str]:
        """Read one escape that stands for a character or a set of them."""
        self.position += 1
        if self.position >= len(self.text):
            raise RegexError("it ends with a \\")
        char = self.text[self.position]
        self.position += 1
        if char in PERL:
            return PERL[char]
        if char in "pP":
            found = frozenset[str]().union(*map(self._cased, self._category()))
            return ALPHABET - found if char == "P" else found
        if char == "x":
            return self._cased(self._hexadecimal())
        if char == "0":
            return frozenset()
        if char.isalnum() and char not in _ESCAPED:
            raise RegexError(f"\\{char} stands for nothing")
        return self._cased(_ESCAPED.get(char, char))

    def _category(self) -> frozenset[str]:
        matched = re.compile(r"\{(\^?)(\w+)\}|(\w)").match(self.text, self.position)
        found = None if matched is None else of_category(matched[2] or matched[3])
        if matched is None or found is None:
            raise RegexError(f"{self.text[self.position - 2 :][:8]} is no class of characters")
        self.position = matched.end()
        return ALPHABET - found if matched[1] else found

    def _hexadecimal(self) -> str:
        matched = re.compile(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\}").match(
            self.text, self.position
        )
        if matched is None or int(matched[1] or matched[2], 16) > 0x10FFFF:
            raise RegexError(f"{self.text[self.position - 2 :][:4]} stands for nothing")
        self.position = matched.end()
        return chr(int(matched[1] or matched[2], 16))

    def _char_class(self) -> frozenset[str]:
        self.position += 1
        is_negated = self._take("^")
        allowed: set[str] = set()
        is_first = True
        while is_first or not self._take("]"):
            if self.position >= len(self.text):
                raise RegexError("a [ is not closed")
            is_first = False
            allowed |= self._class_item()
        return ALPHABET - allowed if is_negated else frozenset(allowed)

    def _class_item(self) -> frozenset[str]:
        if named := re.compile(r"\[:(\^?)(\w+):\]").match(self.text, self.position):
            if named[2] not in POSIX:
                raise RegexError(f"{named[0]} is no class of characters")
            self.position = named.end()
            return ALPHABET - POSIX[named[2]] if named[1] else POSIX[named[2]]
        if self.text[self.position] == "\\" and self.text[self.position + 1 :][:1] in "dDwWsSpP":
            return self._escaped_set()
        first = self._class_char()
        if self.text[self.position :][:1] != "-" or self.text[self.position + 1 :][:1] in ("]", ""):
            return self._cased(first)
        self.position += 1
        last = self._class_char()
        if last < first:
            raise RegexError(f"{first}-{last} goes backwards")
        within = (char for char in ALPHABET if first <= char <= last)
        return frozenset[str]().union(*map(self._cased, within))

    def _class_char(self) -> str:
        if self.position >= len(self.text):
            raise RegexError("a [ is not closed")
        char = self.text[self.position]
        self.position += 1
        if char != "\\":
            return char
        escaped = self.text[self.position : self.position + 1]
        self.position += 1
        if escaped == "x":
            return self._hexadecimal()
        if not escaped or (escaped.isalnum() and escaped not in _ESCAPED):
            raise RegexError(f"\\{escaped} stands for nothing")
        return _ESCAPED.get(escaped, escaped)

    def _cased(self, char: str) -> frozenset[str]:
        both = {char.lower(), char.upper()} if self.ignores_case else {char}
        return ALPHABET & both

    def _take(self, char: str) -> bool:
        if self.text.startswith(char, self.position):
            self.position += len(char)
            return True
        return False
