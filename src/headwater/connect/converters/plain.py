"""Text and bytes as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.config import ConfigDef, ConfigType, Definitions, Values
from headwater.connect.converters.converter import Decoded
from headwater.connect.converters.java_text import java_text
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class StringConverter:
    """Text; what is none is written as Java prints it, such as Struct{id=1}."""

    encoding: str
    definitions: ClassVar[Definitions] = Definitions(
        "converter",
        ConfigDef(
            "converter.encoding",
            ConfigType.STRING,
            "UTF-8",
            "The name of the Java character set to use for encoding strings as byte arrays.",
        ),
        open_prefixes=("",),
    )
    needs_topics: ClassVar[bool] = False

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Take `converter.encoding`."""
        del is_key
        return cls(Values(cls.definitions, config).text("converter.encoding") or "UTF-8")

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the text's bytes."""
        del topics
        text = java_text(value, schema)
        return text.cast("binary") if self._is_sparks_own else F.encode(text, self.encoding)

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the text."""
        del topic
        if self._is_sparks_own:
            # As in Java, what is no text is replaced; `decode` would fail, and makes two copies.
            text = F.make_valid_utf8(frame[column].cast("string"))
        else:
            text = F.decode(frame[column], self.encoding)
        return Decoded(text, Schema(Type.STRING, optional=True))

    @property
    def _is_sparks_own(self) -> bool:
        return self.encoding.upper() in ("UTF-8", "UTF8")


@dataclass(frozen=True)
class ByteArrayConverter:
    """Bytes as they are."""

    definitions: ClassVar[Definitions] = Definitions("converter", open_prefixes=("",))
    needs_topics: ClassVar[bool] = False

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Make one: there is nothing to set."""
        del config, is_key
        return cls()

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the bytes; raises TypeError for a schema that is not of bytes, as Connect does."""
        del topics
        if schema is not None and (schema.type is not Type.BYTES or schema.logical):
            raise TypeError(
                f"ByteArrayConverter takes values of schema type bytes, this is {schema.type}"
            )
        return value.cast("binary")

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the bytes."""
        del topic
        return Decoded(frame[column], Schema(Type.BYTES, optional=True))
