"""Texts with other letters in place of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.server.rows.functions.row_call import CallMaker, lenient

if TYPE_CHECKING:
    from collections.abc import Callable

_LETTERS = ("X", "x", "n", "-")


def _masked(text: str, letters: tuple[str | None, ...]) -> str:
    upper, lower, digit, other = (None if each is None else each[:1] for each in letters)
    made = []
    for letter in text:
        if letter.isupper():
            kind = upper
        elif letter.islower():
            kind = lower
        else:
            kind = digit if letter.isdecimal() else other
        made.append(letter if kind is None else kind)
    return "".join(made)


def _mask(text: str | None, *letters: str | None) -> str | None:
    return None if text is None else _masked(text, letters or _LETTERS)


def _in_part(split: Callable[[str, int], tuple[str, str, str]]) -> CallMaker:
    """Return a text of which a part is masked, and what stands before and after it is not."""

    def mask(text: str | None, count: int | None, *letters: str | None) -> str | None:
        if text is None or count is None:
            return None
        before, part, after = split(text, max(count, 0))
        return before + _masked(part, letters or _LETTERS) + after

    return lenient(mask)


def _but_last(text: str, count: int) -> int:
    return max(len(text) - count, 0)


FUNCTIONS: dict[str, CallMaker] = {
    "MASK": lenient(_mask),
    "MASK_KEEP_LEFT": _in_part(lambda text, count: (text[:count], text[count:], "")),
    "MASK_KEEP_RIGHT": _in_part(
        lambda text, count: ("", text[: _but_last(text, count)], text[_but_last(text, count) :])
    ),
    "MASK_LEFT": _in_part(lambda text, count: ("", text[:count], text[count:])),
    "MASK_RIGHT": _in_part(
        lambda text, count: (text[: _but_last(text, count)], text[_but_last(text, count) :], "")
    ),
}
