"""How a topic's keys and values are written: the serialisers' names, and the schema if any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from headwater.plan.schemas.types import BIGINT, BINARY, DOUBLE, INT, STRING, DataType

if TYPE_CHECKING:
    from headwater.serde import Reference

REGISTRY_KINDS = ("avro", "jsonschema", "protobuf")
INTERNAL = "internal"
"""Between two stages of one program: whatever Spark writes and reads fastest, no registry."""

_FIXED: dict[str, DataType] = {
    "string": STRING,
    "int": INT,
    "long": BIGINT,
    "double": DOUBLE,
    "bytes": BINARY,
}
KINDS = (*_FIXED, "json", "delimited", "protobuf_nosr", *REGISTRY_KINDS)


@dataclass(frozen=True)
class Format:
    """A serialiser by its name in `headwater.serde` and the command line.

    `schema` is the text of the registered schema that the type was read from, and `references` are
    what it imports; without one, the writer's schema follows from the type. `message` is the name
    of Protobuf's message, where it is not the schema's first. `subject` is the
    registry's; without one it is the topic's, `<topic>-key` or `<topic>-value`. `delimiter` stands
    between the columns of `delimited`. `protobuf_nosr` is Protobuf by the type alone, without a
    registry.

    With `lenient`, JSON may have a text or a fraction where a whole number is declared, and
    a name in any capitals where it is declared in capitals.

    `window` says that the bytes of a key are followed by those of a window, as Kafka Streams writes
    them: its start, or of a session its end and its start. The key is then a struct of `key`,
    `window_start` and, of a session, `window_end`, in milliseconds.
    """

    kind: str
    schema: str | None = None
    subject: str | None = None
    references: tuple[Reference, ...] = ()
    delimiter: str = ","
    lenient: bool = False
    window: Literal["time", "session"] | None = None
    message: str | None = None

    @property
    def needs_registry(self) -> bool:
        """Whether the bytes start with the id of a registered schema."""
        return self.kind in REGISTRY_KINDS

    @property
    def fixed_type(self) -> DataType | None:
        """The only type this format writes, if there is only one."""
        return None if self.window is not None else _FIXED.get(self.kind)
