"""Avro schemas: parsed, printed as Java does, compared as the official library does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import parse as parse_official
from hypothesis import given
from hypothesis import strategies as st

from headwater.registry.formats import InvalidSchemaError
from headwater.registry.formats.avro import AvroFormat
from headwater.registry.formats.json_text import MAX_DEPTH

AVRO = AvroFormat()

# What Avro's Java library prints for them.
CANONICAL = [
    ('"string"', '"string"'),
    ('{"type": "string"}', '"string"'),
    (
        '{"type":"string","doc":"x","default":"y","logicalType":"uuid"}',
        '{"type":"string","default":"y","logicalType":"uuid"}',
    ),
    ('["null", {"type": "string"}]', '["null","string"]'),
    (
        '{"fields":[],"namespace":"","name":"R","type":"record"}',
        '{"type":"record","name":"R","fields":[]}',
    ),
    (
        '{"type":"record","name":"a.b.R","doc":"x","fields":[{"name":"f","type":{"type":"string",'
        '"avro.java.string":"String"},"default":"x","order":"ignore","aliases":["g"],"custom":1}]}',
        '{"type":"record","name":"R","namespace":"a.b","doc":"x","fields":[{"name":"f","type":'
        '{"type":"string","avro.java.string":"String"},"default":"x","order":"ignore","aliases":'
        '["g"],"custom":1}]}',
    ),
    (
        '{"type":"record","name":"a.R","aliases":["Q","a.P","b.O"],"p":{"q":[1,2.50,null]},'
        '"fields":[{"name":"x","type":"R","order":"descending","doc":"","aliases":["k"]},'
        '{"name":"e","type":["null",{"type":"fixed","name":"F","size":3}],"default":null}]}',
        '{"type":"record","name":"R","namespace":"a","fields":[{"name":"x","type":"R","doc":"",'
        '"order":"descending","aliases":["k"]},{"name":"e","type":["null",{"type":"fixed","name":'
        '"F","size":3}],"default":null}],"p":{"q":[1,2.5,null]},"aliases":["Q","P","b.O"]}',
    ),
    (
        '{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":{"type":"record",'
        '"name":"n.m.S","fields":[{"name":"g","type":"n.R"},{"name":"h","type":"n.m.S"}]}},'
        '{"name":"i","type":"n.m.S"}]}',
        '{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":{"type":"record",'
        '"name":"S","namespace":"n.m","fields":[{"name":"g","type":"n.R"},{"name":"h","type":"S"}]'
        '}},{"name":"i","type":"n.m.S"}]}',
    ),
    (
        '{"type":"record","name":"R","fields":[{"name":"f","type":"float","default":"1.5"},'
        '{"name":"d","type":"double","default":1e10}]}',
        '{"type":"record","name":"R","fields":[{"name":"f","type":"float","default":1.5},'
        '{"name":"d","type":"double","default":1.0E10}]}',
    ),
]


@pytest.mark.parametrize(("given_text", "canonical"), CANONICAL)
def test_text_is_that_of_java(given_text: str, canonical: str) -> None:
    schema = AVRO.parse(given_text, {})
    assert schema.text == canonical
    assert AVRO.parse(canonical, {}).text == canonical


def test_normal_form_sorts_properties_and_aliases() -> None:
    text = """{"type":"record","name":"R","doc":"","zz":1,"aa":{"y":2,"b":3},"aliases":["b","a"],
      "fields":[{"name":"f","type":{"type":"bytes","z":1,"scale":2,"precision":4,
        "logicalType":"decimal"},"default":"x"},{"name":"g","type":"double","default":1}]}"""
    assert AVRO.parse(text, {}).normalized() == (
        '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"bytes",'
        '"logicalType":"decimal","precision":4,"scale":2,"z":1},"default":"x"},'
        '{"name":"g","type":"double","default":1.0}],"aa":{"b":3,"y":2},"zz":1,"aliases":["a","b"]}'
    )


def test_references_stay_names_unless_asked_for() -> None:
    item = '{"type":"record","name":"shop.Item","fields":[{"name":"n","type":"int"}]}'
    text = '{"type":"array","items":"shop.Item"}'
    schema = AVRO.parse(text, {"shop.Item": item})
    assert schema.text == '{"type":"array","items":"shop.Item"}'
    assert json.loads(schema.formatted("resolved"))["items"]["name"] == "Item"
    with pytest.raises(InvalidSchemaError, match=r"there is no type 'shop.Item'"):
        AVRO.parse(text, {})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not JSON"),
        ("5", "5 is no type"),
        ("{}", "has no type"),
        ('"strin"', "there is no type 'strin'"),
        ('{"type":{"type":"int"}}', "has no type"),
        ('{"type":"record","fields":[]}', "the record has no name"),
        ('{"type":"record","name":"R"}', "no list of fields"),
        ('{"type":"record","name":"R","fields":[5]}', "field 0 is no object"),
        ('{"type":"record","name":"R","fields":[{"name":"a"}]}', "field 0 'a': it has no type"),
        ('{"type":"record","name":"R","fields":[{"name":"a-b","type":"int"}]}', "letters, digits"),
        ('{"type":"record","name":"1R","fields":[]}', "does not start with a digit"),
        ('{"type":"record","name":"int","fields":[]}', "name of a primitive"),
        (
            '{"type":"record","name":"R","fields":[{"name":"f","type":"int"},'
            '{"name":"f","type":"int"}]}',
            "two fields 'f'",
        ),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}',
            'the default "x" is no int',
        ),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":3000000000}]}',
            "is no int",
        ),
        ('{"type":"enum","name":"E","symbols":["A","A"]}', "comes twice"),
        ('{"type":"enum","name":"E","symbols":["A"],"default":"B"}', "is no symbol"),
        ('{"type":"fixed","name":"F","size":-1}', "number of bytes"),
        ('["int","int"]', "int comes twice"),
        ('[["int"]]', "cannot hold a union"),
        ('{"type":"array"}', "the array has no items"),
        (
            '[{"type":"fixed","name":"F","size":1},{"type":"fixed","name":"F","size":1}]',
            "'F' is declared twice",
        ),
        ('{"type":"map","values":' * 500 + '"int"' + "}" * 500, "nests deeper"),
    ],
)
def test_invalid_schemas_are_explained(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSchemaError, match=complaint):
        AVRO.parse(text, {})


def test_what_was_accepted_long_ago_may_have_wrong_defaults() -> None:
    text = '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}'
    assert AVRO.parse(text, {}, is_new=False).text == text


@pytest.mark.parametrize(
    ("start", "end", "depth"),
    [
        ('{"type":"array","items":', "}", 1),
        ('[{"type":"map","values":', "}]", 2),
        ('{"type":"record","name":"R%d","fields":[{"name":"f","type":', "}]}", 3),
    ],
)
def test_the_deepest_schemas_that_are_allowed(start: str, end: str, depth: int) -> None:
    levels = (MAX_DEPTH - 1) // depth
    head = "".join(start.replace("%d", str(level)) for level in range(levels))
    schema = AVRO.parse(head + '"int"' + end * levels, {})
    other = AVRO.parse(head + '"string"' + end * levels, {})
    assert schema.check_reads(schema) == []
    assert next(each.kind for each in schema.check_reads(other)) != "TOO_DEEP"


def test_recursive_types_compare() -> None:
    node = """{"type":"record","name":"Node","fields":[{"name":"v","type":"int"},
      {"name":"next","type":["null","Node"],"default":null}%s]}"""
    old = AVRO.parse(node % "", {})
    new = AVRO.parse(node % ',{"name":"w","type":"int"}', {})
    assert old.check_reads(new) == []
    (reason,) = new.check_reads(old)
    assert (reason.kind, reason.path) == ("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/2")


@pytest.mark.parametrize(
    ("reader", "writer", "kind", "path"),
    [
        ('"int"', '"string"', "TYPE_MISMATCH", "/"),
        ('"long"', '"int"', None, None),
        ('"int"', '"long"', "TYPE_MISMATCH", "/"),
        ('["null","int"]', '"string"', "MISSING_UNION_BRANCH", "/"),
        ('["null","int"]', '["null","string"]', "MISSING_UNION_BRANCH", "/1"),
        ('["null","long"]', '"int"', None, None),
        ('{"type":"array","items":"int"}', '{"type":"array","items":"string"}', "TYPE_MISMATCH",
         "/items"),
        ('{"type":"fixed","name":"F","size":2}', '{"type":"fixed","name":"F","size":3}',
         "FIXED_SIZE_MISMATCH", "/size"),
        ('{"type":"fixed","name":"G","size":2}', '{"type":"fixed","name":"F","size":2}',
         "NAME_MISMATCH", "/name"),
        ('{"type":"fixed","name":"G","size":2,"aliases":["F"]}',
         '{"type":"fixed","name":"F","size":2}', None, None),
        ('{"type":"enum","name":"E","symbols":["A"]}', '{"type":"enum","name":"E","symbols":'
         '["A","B"]}', "MISSING_ENUM_SYMBOLS", "/symbols"),
        ('{"type":"enum","name":"E","symbols":["A"],"default":"A"}',
         '{"type":"enum","name":"E","symbols":["A","B"]}', None, None),
        ('{"type":"record","name":"R","fields":[{"name":"b","type":"int","aliases":["a"]}]}',
         '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}', None, None),
    ],
)  # fmt: skip
def test_reasons_say_what_and_where(
    reader: str, writer: str, kind: str | None, path: str | None
) -> None:
    reasons = AVRO.parse(reader, {}).check_reads(AVRO.parse(writer, {}))
    assert [(each.kind, each.path) for each in reasons] == ([] if kind is None else [(kind, path)])
    for reason in reasons:
        assert "{" not in reason.message.replace("{reader}", "").replace("{writer}", "")
        assert reason.if_reader_is_new
        assert reason.if_writer_is_new


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Any:
    kinds = ["int", "long", "string", "double", "null"]
    if depth > 0:
        kinds += ["array", "union", "enum", "record", "record"]
    kind = draw(st.sampled_from(kinds))
    if kind == "array":
        return {"type": "array", "items": draw(schemas(depth - 1))}
    if kind == "union":
        branches = draw(st.lists(st.sampled_from(["null", "int", "string"]), max_size=3))
        return list(dict.fromkeys(branches))
    if kind == "enum":
        symbols = draw(st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True))
        return {"type": "enum", "name": f"E{depth}", "symbols": symbols}
    if kind == "record":
        names = draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))
        fields: list[dict[str, Any]] = []
        for number, name in enumerate(names):
            inner = draw(schemas(0 if number else depth - 1))
            fields.append({"name": name, "type": inner})
            if inner == "int" and draw(st.booleans()):
                fields[-1]["default"] = 1
        return {"type": "record", "name": f"R{depth}", "fields": fields}
    return kind


@given(schemas(), schemas())
def test_verdicts_are_those_of_the_official_library(reader: Any, writer: Any) -> None:
    checker: Any = ReaderWriterCompatibilityChecker
    result = checker().get_compatibility(
        parse_official(json.dumps(reader)), parse_official(json.dumps(writer))
    )
    expected = result.compatibility is SchemaCompatibilityType.compatible
    ours = AVRO.parse(json.dumps(reader), {}).check_reads(AVRO.parse(json.dumps(writer), {}))
    assert (not ours) == expected
    assert all(reason.kind != "INCOMPATIBLE" for reason in ours)  # each one explained by us


@given(schemas())
def test_every_schema_reads_itself(schema: Any) -> None:
    parsed = AVRO.parse(json.dumps(schema), {})
    assert parsed.check_reads(parsed) == []
    assert AVRO.parse(parsed.text, {}).text == parsed.text
    assert AVRO.parse(parsed.normalized(), {}).normalized() == parsed.normalized()
