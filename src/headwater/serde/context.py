"""Which record a value belongs to: its topic and field, and where known partition and offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Field: TypeAlias = Literal["key", "value"]
Headers: TypeAlias = "Sequence[tuple[str, bytes | None]] | Mapping[str, bytes | None]"


@dataclass(frozen=True, slots=True)
class Context:
    """A record's place; `topic` may be left out where no subject is named after it.

    >>> str(Context("orders", partition=2, offset=17))
    'orders [2] at offset 17, value'
    """

    topic: str | None = None
    field: Field = "value"
    headers: Headers | None = None
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        where = self.topic or "unknown topic"
        if self.partition is not None:
            where += f" [{self.partition}]"
        if self.offset is not None:
            where += f" at offset {self.offset}"
        return f"{where}, {self.field}"

    def header(self, name: str) -> bytes | None:
        """Return the value of the first header of this name, or None."""
        if not self.headers:
            return None
        if hasattr(self.headers, "get"):
            return self.headers.get(name)
        return next((value for key, value in self.headers if key == name), None)


@runtime_checkable
class SerializationContext(Protocol):
    """What `confluent_kafka` hands to serialisers; understood here as well."""

    topic: str
    field: str
    headers: Headers | None


@runtime_checkable
class ConsumedMessage(Protocol):
    """A message as `confluent_kafka` gives it to consumers."""

    def topic(self) -> str | None: ...  # noqa: D102
    def partition(self) -> int | None: ...  # noqa: D102
    def offset(self) -> int | None: ...  # noqa: D102
    def headers(self) -> Headers | None: ...  # noqa: D102
    def key(self) -> bytes | None: ...  # noqa: D102
    def value(self) -> bytes | None: ...  # noqa: D102


ContextLike: TypeAlias = "Context | SerializationContext | str | None"


def as_context(given: ContextLike) -> Context:
    """Accept a topic's name (of a value), our context, confluent-kafka's, or none."""
    if isinstance(given, Context):
        return given
    if given is None or isinstance(given, str):
        return Context(given)
    return Context(given.topic, "key" if given.field == "key" else "value", given.headers)


def context_of(message: ConsumedMessage, field: Field) -> Context:
    """Return where a consumed message came from."""
    return Context(message.topic(), field, message.headers(), message.partition(), message.offset())
