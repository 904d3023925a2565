"""Sets of characters by name: `\\d`, `[:alpha:]`, `\\p{Lu}`, as far as topic names have them."""

from __future__ import annotations

import string
import unicodedata

ALPHABET = frozenset(string.ascii_letters + string.digits + "._-")
"""What a topic name can have; a set of anything else is empty."""

WORD = frozenset(string.ascii_letters + string.digits + "_")
_DIGITS = frozenset(string.digits)

PERL = {
    "d": _DIGITS,
    "D": ALPHABET - _DIGITS,
    "w": WORD,
    "W": ALPHABET - WORD,
    "s": frozenset[str](),
    "S": ALPHABET,
}

POSIX = {
    "alnum": frozenset(string.ascii_letters + string.digits),
    "alpha": frozenset(string.ascii_letters),
    "ascii": ALPHABET,
    "blank": frozenset[str](),
    "cntrl": frozenset[str](),
    "digit": _DIGITS,
    "graph": ALPHABET,
    "lower": frozenset(string.ascii_lowercase),
    "print": ALPHABET,
    "punct": frozenset("._-"),
    "space": frozenset[str](),
    "upper": frozenset(string.ascii_uppercase),
    "word": WORD,
    "xdigit": frozenset(string.hexdigits),
}


def of_category(name: str) -> frozenset[str] | None:
    """Return the characters of a Unicode category or script; None if there is no such thing."""
    if name == "Any":
        return ALPHABET
    if name == "Latin":
        return POSIX["alpha"]
    if name in _SCRIPTS:
        return frozenset()
    if name not in _CATEGORIES.get(name[:1], ()) and name not in _CATEGORIES:
        return None
    return frozenset(char for char in ALPHABET if unicodedata.category(char).startswith(name))


_CATEGORIES = {
    "C": ("Cc", "Cf", "Co", "Cs"),
    "L": ("Ll", "Lm", "Lo", "Lt", "Lu"),
    "M": ("Mc", "Me", "Mn"),
    "N": ("Nd", "Nl", "No"),
    "P": ("Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps"),
    "S": ("Sc", "Sk", "Sm", "So"),
    "Z": ("Zl", "Zp", "Zs"),
}
_SCRIPTS = ("Arabic", "Armenian", "Cyrillic", "Greek", "Han", "Hebrew", "Hiragana", "Thai")
