"""A registry's refusals become sentences, ours and those of Confluent's registry."""

from __future__ import annotations

from headwater.serde.errors import RegistryError
from headwater.serde.refusals import readable_reasons

OURS = [
    "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', path:'/fields/1', "
    "description:'the field 'unit' is new and has no default', remedy:'Give it a default'}",
    "{oldSchemaVersion: 3}",
    '{oldSchema: \'{"type": "record", "name": "R", "fields": []}\'}',
]
CONFLUENTS = [
    "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'unit' at path "
    "'/fields/1' in the new schema has no default value and is missing in the old schema', "
    "additionalInfo:'unit'}",
    "{oldSchemaVersion: 3}",
    "{oldSchema: '\"string\"'}",
    "{validateFields: 'false', compatibility: 'BACKWARD'}",
]


def test_our_registrys() -> None:
    assert readable_reasons(OURS) == [
        "the field 'unit' is new and has no default "
        "(READER_FIELD_MISSING_DEFAULT_VALUE at /fields/1). Give it a default",
        "compared with version 3",
    ]


def test_confluents() -> None:
    assert readable_reasons(CONFLUENTS) == [
        "The field 'unit' at path '/fields/1' in the new schema has no default value and is "
        "missing in the old schema (READER_FIELD_MISSING_DEFAULT_VALUE)",
        "compared with version 3",
    ]


def test_several_and_what_was_left_out() -> None:
    many = [OURS[0], OURS[0].replace("/fields/1", "/fields/2"), "{and at least 7 more}", OURS[1]]
    reasons = readable_reasons(many)
    assert len(reasons) == 4
    assert reasons[2:] == ["and at least 7 more", "compared with version 3"]


def test_an_unknown_notation_stays_as_it_is() -> None:
    assert readable_reasons(["Incompatibility{type:NAME,\n location:/name}"]) == [
        "Incompatibility{type:NAME, location:/name}"
    ]


def test_a_refused_registration() -> None:
    said = 'Schema being registered is incompatible with an earlier schema for subject "s"'
    refusal = RegistryError("http://sr", 409, 409, f"{said}, details: [{', '.join(CONFLUENTS)}]")
    lines = str(refusal).splitlines()
    assert lines[0] == f"{said}:"
    assert lines[1].startswith("  The field 'unit' at path")
    assert lines[2] == "  compared with version 3 (409, error code 409, from http://sr)"
    assert "{" not in str(refusal)
    assert "errorType" in refusal.message, "the answer itself is kept"
