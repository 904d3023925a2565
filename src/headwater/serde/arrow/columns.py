"""What every format does with a column: payloads of one schema into an array, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from headwater.serde.errors import SerializationError, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Column(NamedTuple):
    """Values, null where a payload was malformed, and beside them why; None where all is well."""

    values: pa.Array
    reasons: list[str | None]


class ColumnReader(ABC):
    """Decodes payloads of one writer's schema into an array of the reader's type."""

    type: pa.DataType

    @abstractmethod
    def read(self, payloads: Sequence[bytes]) -> Column:
        """Decode payloads, without the frame in front; a malformed one costs only itself."""


class ColumnWriter(ABC):
    """Encodes arrays with one schema."""

    type: pa.DataType

    @abstractmethod
    def write(self, values: pa.Array) -> list[bytes | None]:
        """Encode an array of the writer's type; null stays null. The first bad value raises."""


def decode_each(
    payloads: Sequence[Any], decode: Callable[[Any], Any], nothing: Any = None
) -> tuple[list[Any], list[str | None]]:
    """Decode payloads one after the other; a malformed one leaves `nothing` and its reason."""
    values: list[Any] = []
    reasons: list[str | None] = [None] * len(payloads)
    for index, payload in enumerate(payloads):
        try:
            values.append(decode(payload))
        except Exception as failure:  # any library's; the payload is malformed for this reason
            values.append(nothing)
            reasons[index] = describe(failure)
    return values, reasons


def array_of(
    values: list[Any], reasons: list[str | None], physical: pa.DataType, logical: pa.DataType
) -> Column:
    """Return Python values as an array; what does not fit its type is malformed as well."""
    try:
        return Column(_array(values, physical, logical), reasons)
    except (pa.ArrowException, OverflowError, TypeError):
        pass  # some value is at fault; one by one they say which
    for index, value in enumerate(values):
        try:
            _array([value], physical, logical)
        except (pa.ArrowException, OverflowError, TypeError) as failure:
            values[index] = None
            reasons[index] = f"it does not fit {logical}: {describe(failure)}"
    return Column(_array(values, physical, logical), reasons)


def _array(values: list[Any], physical: pa.DataType, logical: pa.DataType) -> pa.Array:
    made = pa.array(values, physical)
    return made if physical == logical else made.cast(logical)


def encode_each(values: list[Any], encode: Callable[[Any], bytes]) -> list[bytes | None]:
    """Encode values one after the other; the error names the row that cannot be written."""
    encoded: list[bytes | None] = []
    try:
        encoded.extend(None if value is None else encode(value) for value in values)
    except Exception as failure:
        raise SerializationError(
            f"row {len(encoded)} of the column: {describe(failure)}"
        ) from failure
    return encoded


def conformed(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return a column as a schema wants it: fields in its order, absent ones null."""
    if values.type == wanted:
        return values
    try:
        if not (pa.types.is_struct(wanted) and pa.types.is_struct(values.type)):
            return values.cast(wanted)
        unknown = {field.name for field in values.type} - {field.name for field in wanted}
        if unknown:
            raise SerializationError(
                f"the schema has no field {', '.join(sorted(unknown))}; "
                f"it has {', '.join(field.name for field in wanted)}"
            )
        children = [
            pa.nulls(len(values), field.type)
            if values.type.get_field_index(field.name) < 0
            else conformed(values.field(field.name), field.type)
            for field in wanted
        ]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=values.is_null())
    except pa.ArrowException as failure:
        raise SerializationError(
            f"a column of {values.type} cannot be written as {wanted}: {describe(failure)}"
        ) from failure
