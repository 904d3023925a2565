"""Names of subjects, which may stand in a context: `orders`, `:.staging:orders`."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"  # its settings hold where no other ones do
ANY_CONTEXT = ":*:"

_RESERVED = ("__GLOBAL", "__EMPTY")


class QualifiedSubject(NamedTuple):
    """A subject and the context that it is in."""

    context: str
    subject: str

    @classmethod
    def parse(cls, name: str) -> QualifiedSubject:
        """Take a name apart; any text is a name."""
        if name.startswith(":."):
            context, _, subject = name[1:].partition(":")
            return cls(context, subject)
        if name.startswith(ANY_CONTEXT):
            return cls("*", name[len(ANY_CONTEXT) :])
        return cls(DEFAULT_CONTEXT, name)

    @property
    def prefix(self) -> str:
        """What the names of subjects in this context start with."""
        return "" if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    def __str__(self) -> str:
        return f"{self.prefix}{self.subject}"


def normalize(subject: str) -> str:
    """Return a name in the one way in which it is stored."""
    return str(QualifiedSubject.parse(subject))


def context_of(subject: str | None) -> str:
    """Return the context of a subject; the default one for None, which means "everywhere"."""
    return DEFAULT_CONTEXT if subject is None else QualifiedSubject.parse(subject).context


def context_prefix(subject: str | None) -> str:
    """Return what the names of all subjects in the same context start with."""
    return "" if subject is None else QualifiedSubject.parse(subject).prefix


def is_context(subject: str | None) -> bool:
    """Return whether a name means a whole context."""
    return subject is None or not QualifiedSubject.parse(subject).subject


def is_in(subject: str, where: str | None) -> bool:
    """Return whether a subject is meant by a name that may also be that of a context."""
    if where is None or subject == where:
        return True
    context = QualifiedSubject.parse(where)
    if context.subject:
        return False
    return context.context == GLOBAL_CONTEXT or context.context == context_of(subject)


def beside(subject: str, parent: str) -> str:
    """Return the full name of a subject that was named from inside another one's context."""
    named = QualifiedSubject.parse(subject)
    if named.context != DEFAULT_CONTEXT:
        return str(named)
    return f"{context_prefix(parent)}{subject}"


def normalize_context(context: str) -> str:
    """Return a context given by any of `staging`, `.staging`, `:.staging:` as a prefix.

    Raises ValueError for what cannot be a context.
    """
    context = context.removeprefix(":").removesuffix(":")
    if ":" in context:
        raise ValueError(f"Context name '{context}' cannot contain a colon")
    if not context.startswith("."):
        context = f".{context}"
    return "" if context == DEFAULT_CONTEXT else f":{context}:"


def is_valid(subject: str, *, for_settings: bool = False) -> bool:
    """Return whether schemas (or settings) can be kept under a name."""
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in subject):
        return False
    name = QualifiedSubject.parse(subject)
    if name.subject in _RESERVED:
        return False
    return for_settings or name.context != GLOBAL_CONTEXT
