"""What a converter is, and which there are by Connect's class names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self, cast

from headwater.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.config import Definitions
    from headwater.connect.data.schema import Schema


class Decoded(NamedTuple):
    """Values of one schema, and text that says why there is none: None if there always is.

    Without a schema the value is a VARIANT. Where `failed` is not null, the value is null.
    """

    value: Column
    schema: Schema | None
    failed: Column | None = None


class Converter(Protocol):
    """Makes bytes of keys or values, and values of bytes.

    `needs_topics` says that `to_bytes` wants to know the names of the topics that the records go
    to: those that are in the registry under them.
    """

    definitions: ClassVar[Definitions]
    needs_topics: ClassVar[bool]

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Make one of its settings, without `key.converter.` in front; raises ConfigError."""
        ...

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the bytes; null stays null, unless the format has a null of its own.

        Where the bytes depend on the topic they look at the column `topic`.
        """
        ...

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the values of a column of one topic's bytes; may look into the frame first."""
        ...


def converter_for(class_name: str, config: Mapping[str, str], *, is_key: bool) -> Converter:
    """Return the converter of a class name, with its settings; raises ConfigError."""
    setting = "key.converter" if is_key else "value.converter"
    place = CONVERTERS.get(class_name)
    if place is None:
        from difflib import get_close_matches

        close = get_close_matches(class_name, CONVERTERS, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(CONVERTERS)}"
        raise ConfigError(setting, class_name, f"there is no such converter; {hint}")
    module, _, name = place.partition(":")
    found = cast("type[Converter]", getattr(import_module(module), name))
    return found.configured(config, is_key=is_key)


_HERE = "headwater.connect.converters"
_KAFKA = "org.apache.kafka.connect"
_NUMBERS = ("Boolean", "Short", "Integer", "Long", "Float", "Double")
CONVERTERS: Mapping[str, str] = {
    f"{_KAFKA}.storage.StringConverter": f"{_HERE}.plain:StringConverter",
    f"{_KAFKA}.converters.ByteArrayConverter": f"{_HERE}.plain:ByteArrayConverter",
    f"{_KAFKA}.json.JsonConverter": f"{_HERE}.json:JsonConverter",
    **{
        f"{_KAFKA}.converters.{name}Converter": f"{_HERE}.numbers:{name}Converter"
        for name in _NUMBERS
    },
    "io.confluent.connect.avro.AvroConverter": f"{_HERE}.avro:AvroConverter",
    "io.confluent.connect.protobuf.ProtobufConverter": f"{_HERE}.protobuf:ProtobufConverter",
    "io.confluent.connect.json.JsonSchemaConverter": f"{_HERE}.json_schema:JsonSchemaConverter",
}
"""The converters' modules and classes, loaded when one is asked for: they load PySpark."""
