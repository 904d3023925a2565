"""Connect's schemas as Arrow's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import plan_type

if TYPE_CHECKING:
    from headwater.plan.schemas.types import Decimal


def arrow_type(schema: Schema) -> pa.DataType:
    """Return the type of Arrow that Spark reads as the schema's.

    >>> str(arrow_type(connect.decimal(2, 9)))
    'decimal128(9, 2)'
    """
    match schema.logical:
        case connect.DECIMAL:
            number: Decimal = plan_type(schema)  # type: ignore[assignment] # it is one
            return pa.decimal128(number.precision, number.scale)
        case connect.DATE:
            return pa.date32()
        case connect.TIMESTAMP:
            return pa.timestamp("us", tz="UTC")
    if schema.type is Type.STRUCT:
        return pa.struct([(each.name, arrow_type(each.schema)) for each in schema.fields])
    if schema.type is Type.ARRAY:
        assert schema.value is not None
        return pa.list_(arrow_type(schema.value))
    return _PRIMITIVES[schema.type]


_PRIMITIVES = {
    Type.INT8: pa.int8(),
    Type.INT16: pa.int16(),
    Type.INT32: pa.int32(),
    Type.INT64: pa.int64(),
    Type.FLOAT32: pa.float32(),
    Type.FLOAT64: pa.float64(),
    Type.BOOLEAN: pa.bool_(),
    Type.STRING: pa.string(),
    Type.BYTES: pa.binary(),
}
