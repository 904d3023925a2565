"""Protobuf by a type alone: the schema that follows from it, and bytes without a registry."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from headwater.plan.errors import PlanError
from headwater.plan.schemas.types import BIGINT, DATE, DOUBLE, INT, STRING, Array, Map, Struct
from headwater.serde.arrow.bare_protobuf import BareProtobuf
from headwater.spark.formats.protobuf_schema import protobuf_schema

PLACE = Struct.of(city=STRING, zip=INT)
READING = Struct.of(id=BIGINT, values=Array(DOUBLE), place=PLACE, tags=Map(STRING, INT))


def test_fields_are_numbered_in_their_order() -> None:
    assert protobuf_schema(READING) == (
        'syntax = "proto3";\n'
        "message ConnectDefault1 { message ConnectDefault2 { string city = 1; int32 zip = 2; } "
        "int64 id = 1; repeated double values = 2; ConnectDefault2 place = 3; "
        "map<string, int32> tags = 4; }"
    )


def test_values_come_back_from_their_bytes() -> None:
    format_ = pickle.loads(pickle.dumps(BareProtobuf(protobuf_schema(READING))))
    place = {"city": "Ulm", "zip": 89073}
    values = [{"id": 7, "values": [1.5, 2.5], "place": place, "tags": [("a", 1)]}, None]
    type_ = pa.struct(
        {
            "id": pa.int64(),
            "values": pa.list_(pa.float64()),
            "place": pa.struct({"city": pa.string(), "zip": pa.int32()}),
            "tags": pa.map_(pa.string(), pa.int32()),
        }
    )
    data = format_.encode(pa.array(values, type_))
    decoded, reasons = format_.decode(data)
    assert decoded.to_pylist() == values
    assert reasons.to_pylist() == [None, None]


def test_what_is_no_message_is_malformed() -> None:
    format_ = BareProtobuf(protobuf_schema(INT))
    values, reasons = format_.decode(pa.array([b"\xff", b"\x08\x05"]))
    assert values.to_pylist() == [None, {"value": 5}]
    assert reasons.to_pylist()[0] is not None


@pytest.mark.parametrize("type_", [DATE, Array(Array(INT)), Map(STRING, Array(INT))])
def test_types_without_a_place_in_protobuf_are_refused(type_: object) -> None:
    with pytest.raises(PlanError, match="field"):
        protobuf_schema(Struct.of(field=type_))  # type: ignore[arg-type]
