"""Records of the topic, byte for byte as Confluent's registry writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.registry.entities import (
    Config,
    Metadata,
    Rule,
    RuleSet,
    SchemaReference,
    guid,
)
from headwater.registry.log_records import (
    ClearSubjectKey,
    ClearSubjectValue,
    ConfigKey,
    ContextKey,
    ContextValue,
    DeleteSubjectKey,
    DeleteSubjectValue,
    Key,
    ModeKey,
    ModeValue,
    NoopKey,
    SchemaKey,
    SchemaValue,
    UnknownKey,
    Value,
    decode,
    encode_key,
    encode_value,
)
from headwater.topic_state.errors import InvalidRecordError

METADATA = Metadata({"t": ["a"]}, {"p": "q"}, ["p"])
RULES = RuleSet(
    domain_rules=[
        Rule(
            name="r",
            kind="TRANSFORM",
            mode="WRITEREAD",
            type="CEL",
            tags=["PII"],
            params={"x": "y"},
            expr="expr",
            on_success="NONE",
            on_failure="ERROR",
        )
    ]
)
REFERENCE = SchemaReference("n", "sub", 2)

# Keys and values as Confluent's own classes serialise them (version 8.5).
RECORDS: list[tuple[Key, Value | None, str, str | None]] = [
    (
        SchemaKey("s", 1),
        SchemaValue("s", 1, 7, '"string"'),
        '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
        '{"subject":"s","version":1,"id":7,"schemaType":"AVRO","schema":"\\"string\\"",'
        '"deleted":false}',
    ),
    (
        SchemaKey("s", 1),
        SchemaValue("s", 1, 7, "{}", "JSON", [REFERENCE], METADATA, RULES, deleted=True),
        '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
        '{"subject":"s","version":1,"id":7,"schemaType":"JSON","references":[{"name":"n",'
        '"subject":"sub","version":2}],"metadata":{"tags":{"t":["a"]},"properties":{"p":"q"},'
        '"sensitive":["p"]},"ruleSet":{"domainRules":[{"name":"r","kind":"TRANSFORM",'
        '"mode":"WRITEREAD","type":"CEL","tags":["PII"],"params":{"x":"y"},"expr":"expr",'
        '"onSuccess":"NONE","onFailure":"ERROR","disabled":false}]},"schema":"{}","deleted":true}',
    ),
    (
        ConfigKey(None),
        Config(compatibility_level="FULL"),
        '{"keytype":"CONFIG","magic":0}',
        '{"compatibilityLevel":"FULL"}',
    ),
    (
        ConfigKey("s"),
        Config(compatibility_level="FULL"),
        '{"keytype":"CONFIG","subject":"s","magic":0}',
        '{"subject":"s","compatibilityLevel":"FULL"}',
    ),
    (ModeKey(None), ModeValue("READONLY"), '{"keytype":"MODE","magic":0}', '{"mode":"READONLY"}'),
    (
        ModeKey("s"),
        ModeValue("READONLY"),
        '{"keytype":"MODE","subject":"s","magic":0}',
        '{"subject":"s","mode":"READONLY"}',
    ),
    (
        DeleteSubjectKey("s"),
        DeleteSubjectValue("s", 3),
        '{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
        '{"subject":"s","version":3}',
    ),
    (
        ClearSubjectKey("s"),
        ClearSubjectValue("s"),
        '{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}',
        '{"subject":"s"}',
    ),
    (
        ContextKey(".ctx"),
        ContextValue(".ctx"),
        '{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}',
        '{"tenant":"default","context":".ctx"}',
    ),
    (NoopKey(), None, '{"keytype":"NOOP","magic":0}', None),
]


@pytest.mark.parametrize(("key", "value", "key_text", "value_text"), RECORDS)
def test_written_and_read_as_confluent_does(
    key: Key, value: Value | None, key_text: str, value_text: str | None
) -> None:
    written = encode_value(key, value)
    assert encode_key(key).decode() == key_text
    assert (None if written is None else written.decode()) == value_text
    read = decode(encode_key(key), written)
    assert read.key == key
    assert encode_value(read.key, read.value) == written


def test_guids_are_those_of_confluent() -> None:
    assert str(guid('"string"', (), None, None)) == "095d71cf-1255-6b9d-5e33-0ad575b3df5d"
    assert str(guid("{}", (REFERENCE,), METADATA, RULES)) == "8bfaefc0-c895-dacc-deec-f3dcc6d1db66"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        # Karapace's spelling, old releases' spelling, and fields that newer ones add.
        (b'{"keytype":"CONFIG","subject":null,"magic":0}', b'{"compatibilityLevel":"NONE"}',
         ConfigKey(None)),
        (b'{"magic":0,"keytype":"SCHEMA","subject":"s","version":3}',
         b'{"subject":"s","version":3,"id":1,"schema":"x","deleted":false,"offset":9,"ts":1,'
         b'"md5":"4wwk"}', SchemaKey("s", 3)),
        (b'{"keytype":"ASSOC","tenant":"default"}', b'{"what":"ever"}', UnknownKey("ASSOC")),
        (b'{"keytype":"NOOP","magic":0}', b"not even JSON", NoopKey()),
    ],
)  # fmt: skip
def test_other_spellings_are_read(key: bytes, value: bytes, expected: Key) -> None:
    assert decode(key, value).key == expected


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        (None, b"{}", "no key"),
        (b"", b"{}", "key is malformed"),
        (b"\xff\xfe", b"{}", "key is malformed"),
        (b"[]", b"{}", "key is malformed"),
        (b'{"keytype":"SCHEMA","subject":"s"}', b"{}", "lacks a subject or a version"),
        (b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":9}', b"{}", "unknown magic"),
        (b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', b"{}", "value is malformed"),
        (b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', b"\x00", "is malformed"),
        (b'{"keytype":"SCHEMA","subject":"s","version":0,"magic":1}',
         b'{"subject":"s","version":0,"id":1,"schema":"x"}', "version is 0"),
        (b'{"keytype":"MODE","magic":0}', b'{"mode":7}', "value is malformed"),
        (b'{"keytype":' + b"[" * 5000, b"{}", "key is malformed"),
    ],
)  # fmt: skip
def test_rubbish_is_told_apart(key: bytes | None, value: bytes, complaint: str) -> None:
    with pytest.raises(InvalidRecordError, match=complaint):
        decode(key, value)


@given(st.binary(max_size=60) | st.sampled_from([r[2].encode() for r in RECORDS]), st.binary())
def test_any_bytes_are_a_record_or_rubbish(key: bytes, value: bytes) -> None:
    try:
        decode(key, value)
    except InvalidRecordError:
        return
