"""The .proto parser, its canonical text and its descriptors."""

from __future__ import annotations

import base64
import importlib
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from headwater.serde.proto_text import (
    KNOWN_FILES,
    InvalidOptionError,
    InvalidProtoError,
    MissingImportError,
    ProtoError,
    ProtoSyntaxError,
    UnknownTypeError,
    build_pool,
    format_file,
    from_descriptor,
    normalized_text,
    parse,
    parse_schema,
    to_descriptor,
)
from headwater.serde.proto_text.elements import Message
from headwater.serde.proto_text.known import known_file

EVERYTHING = r"""
syntax = "proto2"; // a comment
package plant.v1; /* another
one */
import "confluent/meta.proto"; import public 'google/protobuf/struct.proto';
option java_package = "org.plant"; option (confluent.file_meta).doc = "hi";
message Reading {
  option (confluent.message_meta) = { tags: ["A", "B"], params: [{key: "x", value: "y"}] };
  required int32 a = 1 [default = -5, (confluent.field_meta).tags = "PII", json_name = "AA"];
  optional string s = 2 [default = "a\"b\n"];
  optional bytes b = 3 [default = "x\001z"];
  optional Kind kind = 4 [default = HOT];
  repeated group Point = 8 { optional int32 x = 1; }
  extensions 100 to 199, 500 to max;
  extend Reading { optional int32 inner = 100; }
  reserved 20, 30 to 40; reserved "foo", 'bar';
  oneof place { string room = 10; double height = 11; }
  optional double d = 12 [default = inf];
  map<string, Kind> kinds = 13;
  enum Kind { option allow_alias = true; COLD = 0; HOT = 1 [deprecated = true]; WARM = 1;
    reserved 5 to 7; }
}
extend Reading { optional string outer = 101; }
service Plant { rpc Get (Reading) returns (stream Reading) { option deprecated = true; } ; }
"""

CANONICAL = (
    r"""syntax = "proto2";
package plant.v1;

import "confluent/meta.proto";
import public "google/protobuf/struct.proto";

option java_package = "org.plant";
option (confluent.file_meta).doc = "hi";

message Reading {
  reserved 20, 30 to 40;
  reserved "foo", "bar";

  option (confluent.message_meta) = {
    tags: [
      "A",
      "B"
    ],
    params: [
      {
        key: "x",
        value: "y"
      }
    ]
  };

  required int32 a = 1 [
    (confluent.field_meta).tags = "PII",
    default = -5,
    json_name = "AA"
  ];
  optional string s = 2 [default = "a\"b\n"];
"""
    + '  optional bytes b = 3 [default = "x\x01z"];'
    + r"""
  optional Kind kind = 4 [default = HOT];
  optional double d = 12 [default = inf];
  map<string, Kind> kinds = 13;

  oneof place {
    string room = 10;
    double height = 11;
  }

  repeated group Point = 8 {
    optional int32 x = 1;
  }

  extensions 100 to 199, 500 to max;

  extend Reading {
    optional int32 inner = 100;
  }

  enum Kind {
    reserved 5 to 7;
    option allow_alias = true;
    COLD = 0;
    HOT = 1 [deprecated = true];
    WARM = 1;
  }
}

extend Reading {
  optional string outer = 101;
}

service Plant {
  rpc Get (Reading) returns (stream Reading) {
    option deprecated = true;
  };
}
"""
)


def test_canonical_text_has_one_layout() -> None:
    assert format_file(parse(EVERYTHING)) == CANONICAL
    assert format_file(parse(CANONICAL)) == CANONICAL


def test_descriptor_holds_everything() -> None:
    descriptor = to_descriptor(parse(EVERYTHING), {}, "plant.proto")
    (reading,) = descriptor.message_type
    fields = {field.name: field for field in reading.field}
    assert list(fields) == ["a", "s", "b", "kind", "d", "kinds", "room", "height", "point"]
    assert fields["a"].default_value == "-5"
    assert fields["a"].json_name == "AA"
    assert fields["b"].default_value == r"x\001z"
    assert fields["kind"].type_name == ".plant.v1.Reading.Kind"
    assert fields["kind"].type == descriptor_pb2.FieldDescriptorProto.TYPE_ENUM
    assert fields["point"].type == descriptor_pb2.FieldDescriptorProto.TYPE_GROUP
    assert fields["room"].oneof_index == 0
    assert [range_.end for range_ in reading.extension_range] == [200, 536_870_912]
    assert [(each.start, each.end) for each in reading.reserved_range] == [(20, 21), (30, 41)]
    assert [(each.start, each.end) for each in reading.enum_type[0].reserved_range] == [(5, 7)]
    assert {each.name for each in reading.nested_type} == {"KindsEntry", "Point"}
    assert [each.name for each in descriptor.extension] == ["outer"]
    assert descriptor.service[0].method[0].server_streaming
    assert list(descriptor.public_dependency) == [1]


def test_custom_options_are_encoded_where_their_declaration_is_known() -> None:
    descriptor = to_descriptor(parse(EVERYTHING), {}, "plant.proto")
    kind = build_pool(known_file("confluent/meta.proto"), {}, "confluent/meta.proto")
    options = GetMessageClass(kind.FindMessageTypeByName("google.protobuf.FieldOptions"))
    extension = kind.FindExtensionByName("confluent.field_meta")
    parsed: Any = options.FromString(
        descriptor.message_type[0].field[0].options.SerializeToString()
    )
    assert list(parsed.Extensions[extension].tags) == ["PII"]


def test_options_of_an_unknown_extension_stay_in_the_text() -> None:
    text = 'syntax = "proto3"; message M { string s = 1 [(who.knows).this = 5]; }'
    file = parse(text)
    assert "[(who.knows).this = 5]" in format_file(file)
    assert not to_descriptor(file, {}).message_type[0].field[0].HasField("options")


def test_options_declared_in_the_same_file() -> None:
    file = parse(
        """syntax = "proto2"; package p; import "google/protobuf/descriptor.proto";
        message Limit { optional int32 low = 1; repeated string names = 2; extensions 5 to 9; }
        extend google.protobuf.FieldOptions { optional Limit limit = 50001; }
        extend Limit { optional bool strict = 5; }
        message M { optional int32 x = 1 [
          (limit).low = 3, (p.limit).names = "a", (.p.limit).(strict) = true]; }"""
    )
    options = to_descriptor(file, {}).message_type[1].field[0].options
    pool = build_pool(file, {})
    kind = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
    parsed: Any = kind.FromString(options.SerializeToString())
    limit = parsed.Extensions[pool.FindExtensionByName("p.limit")]
    assert (limit.low, list(limit.names)) == (3, ["a"])
    assert limit.Extensions[pool.FindExtensionByName("p.strict")] is True


def test_options_with_an_extension_in_their_path() -> None:
    file = parse(
        """edition = "2023"; package p; import "google/protobuf/descriptor.proto";
        message Mine { bool strict = 1; }
        extend google.protobuf.FeatureSet { Mine mine = 9990; }
        message M { int32 x = 1 [features.(mine).strict = true, features.(their).x = 1]; }"""
    )
    assert "features.(mine).strict = true" in format_file(file)
    options = to_descriptor(file, {}).message_type[1].field[0].options
    pool = build_pool(file, {})
    kind = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
    parsed: Any = kind.FromString(options.SerializeToString())
    assert parsed.features.Extensions[pool.FindExtensionByName("p.mine")].strict is True


def test_names_of_types_may_stand_on_several_lines() -> None:
    file = parse(
        """syntax = "proto2"; package p; message Outer { message Inner {} }
        extend .p.
          Outer {}
        message M {
          optional .p
            .Outer.Inner one = 1; optional p.
              Outer . Inner two = 2; map<int32, Outer
              .Inner> three = 3; oneof o { Outer
                .Inner four = 4; } optional Outer five = 5; optional .p.Outer six = 6; }
        service S { rpc Get (Outer
          .Inner) returns (stream p
          .M); }"""
    )
    message = file.types[1]
    assert isinstance(message, Message)
    kinds = [field.type for field in message.fields]
    assert kinds == [
        ".p.Outer.Inner", "p.Outer.Inner", "map<int32, Outer.Inner>", "Outer", ".p.Outer"
    ]  # fmt: skip
    assert message.one_ofs[0].fields[0].type == "Outer.Inner"
    method = file.services[0].methods[0]
    assert (method.request, method.response) == ("Outer.Inner", "p.M")
    assert file.extends[0].extendee == ".p.Outer"


def test_messages_work_from_a_pool() -> None:
    file = parse(
        """syntax = "proto3"; package shop;
        import "google/protobuf/timestamp.proto"; import "item.proto";
        message Order { google.protobuf.Timestamp at = 1; repeated Item items = 2;
          map<string, Item> by_name = 3; optional string note = 4; }"""
    )
    item = parse('syntax = "proto3"; package shop; message Item { string name = 1; int64 n = 2; }')
    pool = build_pool(file, {"item.proto": item}, "order.proto")
    order = GetMessageClass(pool.FindMessageTypeByName("shop.Order"))()
    json = (
        '{"at": "2026-01-02T03:04:05Z", "items": [{"name": "a", "n": "7"}], '
        '"byName": {"b": {"n": "1"}}, "note": ""}'
    )
    json_format.Parse(json, order)
    again: Any = type(order).FromString(order.SerializeToString())
    assert again.items[0].n == 7
    assert again.by_name["b"].n == 1
    assert again.HasField("note")


@pytest.mark.parametrize("name", sorted(KNOWN_FILES))
def test_known_files_build(name: str) -> None:
    assert build_pool(known_file(name), {}, name).FindFileByName(name).name == name


@pytest.mark.parametrize(
    "name",
    ["descriptor", "struct", "type", "api", "wrappers", "compiler.plugin"],
)
def test_descriptors_survive_the_way_through_text(name: str) -> None:
    module = importlib.import_module(f"google.protobuf.{name}_pb2")
    descriptor = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    text = format_file(from_descriptor(descriptor))
    again = to_descriptor(parse(text), {}, descriptor.name)
    assert _sorted(again) == _sorted(descriptor)


def test_schemas_may_come_as_descriptors_in_base64() -> None:
    descriptor = to_descriptor(parse('syntax = "proto3"; package p; message M { M m = 1; }'), {})
    encoded = base64.b64encode(descriptor.SerializeToString()).decode()
    assert format_file(parse_schema(encoded)) == (
        'syntax = "proto3";\npackage p;\n\nmessage M {\n  .p.M m = 1;\n}\n'
    )
    with pytest.raises(ProtoSyntaxError, match="line 1, column 1"):
        parse_schema("bm8gcHJvdG8=")


def test_normal_form_ignores_what_has_no_order() -> None:
    one = """syntax = "proto3"; package p; import "b.proto"; import "a.proto";
      message M { option deprecated = true; int32 y = 2; N x = 1; oneof o { B b = 4; A a = 3; }
        message N {} reserved 9 to 9, "z", "y"; map<string, N> m = 5; }
      enum E { ZERO = 0; TWO = 2; ONE = 1; }"""
    other = """syntax = "proto3"; package p; import "a.proto"; import "b.proto";
      message M { reserved "y", "z", 9; .p.M.N x = 1; int32 y = 2; oneof o { p.A a = 3; B b = 4; }
        map<string, M.N> m = 5; option deprecated = true; message N {} }
      enum E { ZERO = 0; ONE = 1; TWO = 2; }"""
    imports = {
        "a.proto": parse('syntax = "proto3"; package p; message A {}'),
        "b.proto": parse('syntax = "proto3"; package p; message B {}'),
    }
    text = normalized_text(parse(one), imports)
    assert text == normalized_text(parse(other), imports)
    assert "map<string, .p.M.N> m = 5;" in text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", None),
        ("message M {", r"line 1, column 12: expected '}', the text ends"),
        ("message M { int32 a; }", r"line 1, column 20: expected '=', found ';'"),
        ("message M { int32 a = 0; }", "a field's number is between 1 and 536870911"),
        ("message M { int32 a = x; }", "expected a field's number, found 'x'"),
        ("message M.N {}", "expected a message's name without dots"),
        ("mess M {}", "expected a declaration"),
        ('syntax = "proto4";', "'proto2' or 'proto3'"),
        ('message M { string s = 1 [default = "x]; }', "does not end on its line"),
        ("/* never closed", "a comment that does not end"),
        ("message M { \u00e9 = 1; }", "unexpected character"),
        ("message M { oneof o { repeated int32 a = 1; } }", "has no label"),
        ("message M { reserved 5 to 3; }", "goes upwards"),
        ("package a; package b;", "one package"),
        ("enum E { A = 99999999999; }", "32 bits"),
        ('message M { string s = 1 [default = "\\q"]; }', "unknown escape"),
        ("message M " + "{ message M " * 70, "nest deeper than 64"),
        ("option o = " + "{a:" * 50, "nest deeper than 32"),
    ],
)
def test_syntax_errors_say_where(text: str, complaint: str | None) -> None:
    if complaint is None:
        parse(text)
    else:
        with pytest.raises(ProtoSyntaxError, match=complaint):
            parse(text)


def test_a_missing_file_that_nothing_needs_is_passed_over() -> None:
    used = parse('syntax = "proto3"; import "other.proto"; message X { int32 a = 1; }')
    file = parse(
        'syntax = "proto3"; import "x.proto"; import public "y.proto"; import weak "z.proto"; '
        "message M { X x = 1; }"
    )
    pool = build_pool(file, {"x.proto": used})
    assert [each.name for each in pool.FindMessageTypeByName("M").fields] == ["x"]
    assert list(to_descriptor(file, {"x.proto": used}).dependency) == ["x.proto"]


@pytest.mark.parametrize(
    ("text", "error", "complaint"),
    [
        ("message M { N n = 1; }", UnknownTypeError, "M.n = 1: there is no type 'N'"),
        (
            'import "x.proto"; message M { X x = 1; }',
            MissingImportError,
            "the schema imports x.proto, but no reference has that name. M.x = 1: there is no type",
        ),
        (
            'import "google/protobuf/nothing.proto"; message M { google.protobuf.Nothing n = 1; }',
            MissingImportError,
            "imports google/protobuf/nothing.proto",
        ),
        ("message M { int32 a = 1; int32 b = 1; }", InvalidProtoError, "uplicate"),
        ("message M { int32 a = 1; int32 a = 2; }", InvalidProtoError, "uplicate"),
        ("message M {} message M {}", InvalidProtoError, "uplicate"),
        ("message M { map<float, int32> m = 1; }", InvalidProtoError, "a map's keys"),
        ("message M { repeated map<int32, int32> m = 1; }", InvalidProtoError, "have a label"),
        ("message M { oneof o { } }", InvalidProtoError, "at least one field"),
        ("message M { string s = 1 [default = 5]; }", InvalidProtoError, "of another type"),
        ('message M { int32 n = 1 [default = "5"]; }', InvalidProtoError, "of another type"),
        ("option no_such_option = 1;", InvalidOptionError, "no_such_option"),
        ("option java_package = 1;", InvalidOptionError, "wrong option"),
        ("service S { rpc R (X) returns (X); }", UnknownTypeError, "rpc S.R"),
        ("extend X { int32 a = 1; }", UnknownTypeError, "extend X"),
        ('edition = "1999";', InvalidProtoError, "no edition '1999'"),
    ],
)
def test_what_cannot_be_is_refused(text: str, error: type[ProtoError], complaint: str) -> None:
    head = "" if "edition" in text else 'syntax = "proto3"; '
    with pytest.raises(error, match=complaint):
        build_pool(parse(head + text), {})


def test_files_that_import_each_other_are_refused() -> None:
    a = parse('syntax = "proto3"; import "b.proto";')
    b = parse('syntax = "proto3"; import "a.proto";')
    with pytest.raises(InvalidProtoError, match=r"a.proto -> b.proto -> a.proto"):
        build_pool(a, {"a.proto": a, "b.proto": b}, "a.proto")


@given(st.text(max_size=200) | st.lists(st.sampled_from(CANONICAL.split())).map(" ".join))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        file = parse_schema(text)
        assert parse(format_file(file)) == file
    except ProtoError:
        return


@given(
    st.integers(0, len(CANONICAL)), st.integers(0, 40), st.sampled_from(["", "{", "}", ";", "="])
)
def test_damaged_files_parse_or_are_refused(start: int, length: int, instead: str) -> None:
    text = CANONICAL[:start] + instead + CANONICAL[start + length :]
    try:
        build_pool(parse(text), {})
    except ProtoError:
        return


def _sorted(descriptor: descriptor_pb2.FileDescriptorProto) -> descriptor_pb2.FileDescriptorProto:
    """Oneofs are written after the fields, which changes the order and nothing else."""
    result = descriptor_pb2.FileDescriptorProto()
    result.CopyFrom(descriptor)

    def sort(message: descriptor_pb2.DescriptorProto) -> None:
        fields = sorted(message.field, key=lambda field: field.number)
        del message.field[:]
        message.field.extend(fields)
        nested = sorted(message.nested_type, key=lambda each: each.name)
        del message.nested_type[:]
        message.nested_type.extend(nested)
        for each in message.nested_type:
            sort(each)

    for message in result.message_type:
        sort(message)
    return result
