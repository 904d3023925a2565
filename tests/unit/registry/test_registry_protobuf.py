"""Protobuf schemas: compared as they travel on the wire."""

from __future__ import annotations

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from headwater.registry.formats import InvalidSchemaError
from headwater.registry.formats.protobuf import ProtobufFormat

PROTOBUF = ProtobufFormat()


def changes(
    old: str,
    new: str,
    old_refs: dict[str, str] | None = None,
    new_refs: dict[str, str] | None = None,
) -> list[tuple[str, str]]:
    """What of the older schema's data the newer one would read wrongly."""
    older = PROTOBUF.parse(f'syntax = "proto3"; {old}', old_refs or {})
    newer = PROTOBUF.parse(f'syntax = "proto3"; {new}', new_refs or old_refs or {})
    return [(each.kind, each.path) for each in newer.check_reads(older)]


def field(type_: str) -> str:
    return f"message M {{ {type_} a = 1; }} message N {{}} enum E {{ ZERO = 0; }}"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("int32", "int64", None),
        ("int32", "bool", None),
        ("int32", "E", None),
        ("string", "bytes", None),
        ("fixed32", "sfixed32", None),
        ("sint32", "sint64", None),
        ("string", "repeated string", None),
        ("map<string, int32>", "map<string, int64>", None),
        ("int32", "string", "FIELD_SCALAR_KIND_CHANGED"),
        ("int32", "sint32", "FIELD_SCALAR_KIND_CHANGED"),
        ("float", "double", "FIELD_SCALAR_KIND_CHANGED"),
        ("fixed32", "fixed64", "FIELD_SCALAR_KIND_CHANGED"),
        ("map<string, int32>", "map<string, string>", "FIELD_SCALAR_KIND_CHANGED"),
        ("optional int32", "repeated int32", "FIELD_NUMERIC_LABEL_CHANGED"),
        ("string", "N", "FIELD_KIND_CHANGED"),
        ("N", "map<string, int32>", "FIELD_KIND_CHANGED"),
        ("N", "M", "FIELD_NAMED_TYPE_CHANGED"),
    ],
)
def test_types(old: str, new: str, kind: str | None) -> None:
    expected = [] if kind is None else [(kind, "#/M/1")]
    assert changes(field(old), field(new)) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("package a; message M {}", "package b; message M {}", [("PACKAGE_CHANGED", "#/")]),
        ("message M {} message N {}", "message N {} message M {}", []),
        ("message M {} message N {}", "message N {}", [("MESSAGE_REMOVED", "#/M")]),
        ("message M { message I {} }", "message M {}", [("MESSAGE_REMOVED", "#/M/I")]),
        ("message M { int32 a = 1; }", "message M { int32 b = 1; string c = 2; }", []),
        ("message M { int32 a = 1; string b = 2; }", "message M { int32 a = 1; }", []),
        ("enum E { A = 0; B = 1; }", "enum E { A = 0; C = 2; }", []),
        ("enum E { A = 0; }", "", []),
        # oneofs
        ("message M { int32 a = 1; }", "message M { oneof o { int32 a = 1; int32 b = 2; } }", []),
        ("message M { int32 a = 1; int32 b = 2; }",
         "message M { oneof o { int32 a = 1; int32 b = 2; } }",
         [("MULTIPLE_FIELDS_MOVED_TO_ONEOF", "#/M/o")]),
        ("message M { oneof o { int32 a = 1; } int32 b = 2; }",
         "message M { oneof o { int32 a = 1; int32 b = 2; } }",
         [("FIELD_MOVED_TO_EXISTING_ONEOF", "#/M/o")]),
        ("message M { oneof o { int32 a = 1; int32 b = 2; } }",
         "message M { oneof o { int32 a = 1; } }", [("ONEOF_FIELD_REMOVED", "#/M/o/2")]),
        ("message M { oneof o { int32 a = 1; int32 b = 2; } }", "message M {}", []),
        ("message M { oneof o { int32 a = 1; } }", "message M { int32 a = 1; }", []),
        ("message M { oneof o { int32 a = 1; } }", "message M { oneof p { string a = 1; } }",
         [("FIELD_SCALAR_KIND_CHANGED", "#/M/p/1")]),
        # recursion
        ("message M { M m = 1; int32 a = 2; }", "message M { M m = 1; string a = 2; }",
         [("FIELD_SCALAR_KIND_CHANGED", "#/M/2")]),
    ],
)  # fmt: skip
def test_messages(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert changes(old, new) == expected


def test_required_fields_come_and_go_never() -> None:
    without = PROTOBUF.parse('syntax = "proto2"; message M {}', {})
    with_it = PROTOBUF.parse('syntax = "proto2"; message M { required int32 a = 1; }', {})
    assert [each.kind for each in with_it.check_reads(without)] == ["REQUIRED_FIELD_ADDED"]
    assert [each.kind for each in without.check_reads(with_it)] == ["REQUIRED_FIELD_REMOVED"]


def test_imported_messages_are_compared_too() -> None:
    using = 'import "item.proto"; message M { shop.Item a = 1; repeated shop.Item b = 2; }'
    item = 'syntax = "proto3"; package shop; message Item { %s n = 1; Item inner = 2; }'
    old, new = {"item.proto": item % "int32"}, {"item.proto": item % "string"}
    assert changes(using, using, old, {"item.proto": item % "int64"}) == []
    assert changes(using, using, old, new) == [
        ("FIELD_SCALAR_KIND_CHANGED", "#/Item/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "#/M/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "#/M/2"),
    ]


def test_serialized_form_is_a_descriptor() -> None:
    text = 'syntax = "proto3"; package p; message M { google.protobuf.Any a = 1; }'
    text = text.replace("message", 'import "google/protobuf/any.proto"; message')
    schema = PROTOBUF.parse(text, {})
    descriptor = FileDescriptorProto.FromString(base64.b64decode(schema.formatted("serialized")))
    assert descriptor.message_type[0].field[0].type_name == ".google.protobuf.Any"
    assert schema.formatted("no such form") == schema.text
    again = PROTOBUF.parse(schema.formatted("serialized"), {})
    assert again.normalized() == schema.normalized()
    assert again.check_reads(schema) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", None),
        ("nonsense", "expected a declaration"),
        ("message M { X x = 1; }", "there is no type 'X'"),
        ("message M { int32 a = 1; int32 b = 1; }", "uplicate"),
        ('import "missing.proto"; message M { X x = 1; }', "no reference has that name"),
    ],
)
def test_invalid_schemas_are_explained(text: str, complaint: str | None) -> None:
    if complaint is None:
        assert PROTOBUF.parse(text, {}).text == ""
        return
    with pytest.raises(InvalidSchemaError, match=complaint):
        PROTOBUF.parse(f'syntax = "proto3"; {text}', {})
