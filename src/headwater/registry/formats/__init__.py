"""Schema formats side by side: each parses, writes, normalises and compares schemas of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from headwater.registry.formats.base import (
    Incompatibility,
    InvalidSchemaError,
    ParsedSchema,
    SchemaFormat,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "FORMATS",
    "Incompatibility",
    "InvalidSchemaError",
    "ParsedSchema",
    "SchemaFormat",
]


class _Formats(Mapping[str, SchemaFormat]):
    """Formats by their names, each imported when it is first used.

    All together they take as long as the rest of the registry needs to be ready.
    """

    def __init__(self, classes: Mapping[str, tuple[str, str]]) -> None:
        self._classes = classes
        self._used: dict[str, SchemaFormat] = {}

    def __getitem__(self, name: str) -> SchemaFormat:
        found = self._used.get(name)
        if found is None:
            module, class_name = self._classes[name]
            found = getattr(import_module(f"{__name__}.{module}"), class_name)()
            self._used[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


FORMATS: Mapping[str, SchemaFormat] = _Formats(
    {
        "AVRO": ("avro", "AvroFormat"),
        "JSON": ("json_schema", "JsonSchemaFormat"),
        "PROTOBUF": ("protobuf", "ProtobufFormat"),
    }
)
