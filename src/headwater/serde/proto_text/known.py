"""Files that every schema may import without a reference: Google's and Confluent's own types."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from headwater.serde.proto_text.parser import parse

if TYPE_CHECKING:
    from headwater.serde.proto_text.elements import ProtoFile

# These come with the protobuf package itself.
_GOOGLE_PROTOBUF = (
    "any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct",
    "timestamp", "type", "wrappers",
)  # fmt: skip
_OURS = {
    "confluent": ("meta",),
    "confluent/type": ("decimal", "variant"),
    "confluent/types": ("decimal",),
    "google/type": (
        "calendar_period", "color", "date", "datetime", "dayofweek", "decimal", "expr", "fraction",
        "interval", "latlng", "localized_text", "money", "month", "phone_number", "postal_address",
        "quaternion", "timeofday",
    ),
}  # fmt: skip

KNOWN_FILES = frozenset(
    {f"google/protobuf/{name}.proto" for name in _GOOGLE_PROTOBUF}
    | {f"{folder}/{name}.proto" for folder, names in _OURS.items() for name in names}
)


@cache
def known_file(name: str) -> ProtoFile:
    """Return one of KNOWN_FILES, parsed."""
    if name.startswith("google/protobuf/"):
        from headwater.serde.proto_text.descriptor_reader import from_descriptor

        return from_descriptor(google_descriptor(name), _without_extensions())
    return parse(files(__package__).joinpath("known", *name.split("/")).read_text("utf-8"))


@cache
def google_descriptor(name: str) -> FileDescriptorProto:
    """Return the descriptor of a file that comes with the protobuf package."""
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    serialized: bytes = importlib.import_module(module).DESCRIPTOR.serialized_pb
    return FileDescriptorProto.FromString(serialized)


@cache
def _without_extensions() -> DescriptorPool:
    # Google's own files use none, and what knows Confluent's is made from these very files.
    pool = DescriptorPool()
    pool.AddSerializedFile(
        google_descriptor("google/protobuf/descriptor.proto").SerializeToString()
    )
    return pool
