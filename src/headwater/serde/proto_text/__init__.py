"""Protobuf schemas as text: parse .proto files, write them, turn them into descriptors and back.

    >>> file = parse('syntax = "proto3"; message Point { int32 x = 1; int32 y = 2; }')
    >>> print(format_file(file), end="")
    syntax = "proto3";
    <BLANKLINE>
    message Point {
      int32 x = 1;
      int32 y = 2;
    }
    >>> pool = build_pool(file, imports={})
    >>> pool.FindMessageTypeByName("Point").fields_by_name["y"].number
    2

No protoc is needed. `imports` always means the files that a file imports, directly or not, parsed,
by the names they are imported by; Google's and Confluent's own (`KNOWN_FILES`) are there anyway.
"""

from headwater.serde.proto_text.descriptor_builder import build_pool, to_descriptor
from headwater.serde.proto_text.descriptor_reader import from_descriptor, parse_schema
from headwater.serde.proto_text.elements import ProtoFile
from headwater.serde.proto_text.errors import (
    InvalidOptionError,
    InvalidProtoError,
    MissingImportError,
    ProtoError,
    ProtoSyntaxError,
    UnknownTypeError,
)
from headwater.serde.proto_text.known import KNOWN_FILES
from headwater.serde.proto_text.normalizer import normalized_text
from headwater.serde.proto_text.parser import parse
from headwater.serde.proto_text.writer import format_file

__all__ = [
    "KNOWN_FILES",
    "InvalidOptionError",
    "InvalidProtoError",
    "MissingImportError",
    "ProtoError",
    "ProtoFile",
    "ProtoSyntaxError",
    "UnknownTypeError",
    "build_pool",
    "format_file",
    "from_descriptor",
    "normalized_text",
    "parse",
    "parse_schema",
    "to_descriptor",
]
