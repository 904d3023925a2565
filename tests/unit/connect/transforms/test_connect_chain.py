"""What is wrong with a connector's transforms is said before any record comes."""

from __future__ import annotations

import pytest

from headwater.config import ConfigError
from headwater.connect.transforms.all_transforms import TRANSFORMS
from headwater.connect.transforms.chain import check_chain, read_chain

KAFKA = "org.apache.kafka.connect.transforms"
V3 = {"field": "a", "field_syntax_version": "V3"}
HEADER = {"fields": "a", "headers": "b", "operation": "move"}


def _config(**settings: str) -> dict[str, str]:
    named = {f"transforms.it.{key.replace('_', '.')}": text for key, text in settings.items()}
    return {"transforms": "it", **named}


@pytest.mark.parametrize(
    ("name", "settings", "setting", "reason"),
    [
        ("Casts$Value", {}, "type", "did you mean"),
        ("Cast", {}, "type", "Cast$Key or"),
        ("Cast$Value", {}, "spec", "it must be given"),
        ("Cast$Value", {"spec": "a:b:c"}, "spec", "colon-delimited pairs"),
        ("Cast$Value", {"spec": "a:bytes"}, "spec", "there is no type bytes"),
        ("Cast$Value", {"spec": "int8,a:int8"}, "spec", "stands alone"),
        ("Cast$Value", {"spec": "int8", "sepc": "x"}, "sepc", "did you mean spec?"),
        ("ExtractField$Key", {"field": "`a", "field_syntax_version": "V2"}, "field", "backtick"),
        ("ExtractField$Key", V3, "field.syntax.version", "V1"),
        ("HeaderFrom$Key", {**HEADER, "headers": "b,c"}, "headers", "1 fields"),
        ("HeaderFrom$Key", {**HEADER, "operation": "take"}, "operation", "move, copy"),
        ("InsertField$Value", {}, "static.field", "No field insertion"),
        ("InsertField$Value", {"static_field": "a"}, "static.value", "No value specified"),
        ("MaskField$Value", {"fields": ""}, "fields", "non-empty"),
        ("RegexRouter", {"regex": "(", "replacement": ""}, "regex", "Java regular expression"),
        ("ReplaceField$Value", {"renames": "a"}, "renames", "pairs"),
        ("SetSchemaMetadata$Key", {}, "schema.name", "Neither"),
        ("TimestampConverter$Value", {"target_type": "string"}, "format", "yyyy-MM-dd"),
        ("TimestampConverter$Value", {"target_type": "date"}, "target.type", "one of string"),
        ("TimestampRouter", {"timestamp_format": "YYYY"}, "timestamp.format", "SimpleDateFormat"),
        ("ValueToKey", {"fields": "a", "predicate": "p"}, "predicate", "there is no predicate"),
    ],
)  # fmt: skip
def test_wrong_settings(name: str, settings: dict[str, str], setting: str, reason: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        read_chain(_config(type=f"{KAFKA}.{name}", **settings))
    assert refusal.value.name == f"transforms.it.{setting}"
    assert reason in refusal.value.reason


def test_functions() -> None:
    name = "headwater.connect.transforms.PythonFunction$Value"
    for settings, setting in (
        ({"function": "len"}, "function"),
        ({"function": "a:b", "returns": "array<"}, "returns"),
    ):
        with pytest.raises(ConfigError) as refusal:
            read_chain(_config(type=name, **settings))
        assert refusal.value.name == f"transforms.it.{setting}"


def test_all_that_is_wrong_is_found() -> None:
    config = {
        "transforms": "a,b",
        "transforms.a.type": f"{KAFKA}.TimestampConverter$Value",
        "transforms.a.unix.precision": "hours",
        "transforms.b.fields": "x",
        "predicates": "p",
        "predicates.p.type": f"{KAFKA}.predicates.Never",
    }
    chain, errors = check_chain(config)
    assert not chain.links
    assert {error.name for error in errors} == {
        "predicates.p.type",
        "transforms.a.target.type",
        "transforms.a.unix.precision",
        "transforms.b.type",
    }


def test_offsets_are_for_sinks() -> None:
    config = _config(type=f"{KAFKA}.InsertField$Value", offset_field="o")
    assert len(read_chain(config).links) == 1
    with pytest.raises(ConfigError, match=r"transforms\.it\.offset\.field"):
        read_chain(config, of_source=True)


def test_all_of_kafkas_are_there() -> None:
    names = {
        name.rpartition(".")[2].partition("$")[0]
        for each in TRANSFORMS
        for name in each.class_names
    }
    assert names >= {
        "Cast", "DropHeaders", "ExtractField", "Filter", "Flatten", "HeaderFrom", "HoistField",
        "InsertField", "InsertHeader", "MaskField", "RegexRouter", "ReplaceField",
        "SetSchemaMetadata", "TimestampConverter", "TimestampRouter", "ValueToKey",
    }  # fmt: skip
