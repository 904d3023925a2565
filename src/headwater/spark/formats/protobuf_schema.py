"""The .proto text of a type, as Confluent's converter for Connect makes it of a schema."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    DataType,
    Map,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCALARS: dict[DataType, str] = {
    BOOLEAN: "bool",
    TINYINT: "int32",
    SMALLINT: "int32",
    INT: "int32",
    BIGINT: "int64",
    FLOAT: "float",
    DOUBLE: "double",
    STRING: "string",
    BINARY: "bytes",
    TIMESTAMP: "google.protobuf.Timestamp",
}
_FILES = {
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
    "google.type.Date": "google/type/date.proto",
    "google.type.TimeOfDay": "google/type/timeofday.proto",
}
_NAME = "ConnectDefault{}"


def protobuf_schema(
    type_: DataType,
    message: str | None = None,
    well_known: Mapping[DataType, str] = MappingProxyType({}),
) -> str:
    """Return a file whose first message has a field for each of a struct's, in their order.

    What is no struct is the only field of a message. Fields that are not set have their defaults,
    as everything has in proto3; raises PlanError for a type that it has none for. `message` is the
    first message's own name, with its package if it has one; `well_known` has messages of Google's
    for further types.
    """
    struct = type_ if isinstance(type_, Struct) else Struct.of(value=type_)
    package, _, name = (message or "").rpartition(".")
    within = f"package {package};\n" if package else ""
    text = _Messages({**_SCALARS, **well_known}).of(struct, name or None)
    imports = "".join(f'import "{path}";\n' for known, path in _FILES.items() if known in text)
    return f'syntax = "proto3";\n{within}{imports}{text}'


class _Messages:
    """Writes messages, one inside the other, with names that are all different."""

    def __init__(self, words: Mapping[DataType, str]) -> None:
        self._words = words
        self._count = 0

    def of(self, struct: Struct, name: str | None = None) -> str:
        self._count += 1
        name, inner, fields = name or _NAME.format(self._count), [], []
        for number, field in enumerate(struct.fields, start=1):
            word, nested = self._field(field.type, field.name)
            inner += nested
            fields.append(f"{word} {field.name} = {number};")
        return f"message {name} {{ {' '.join((*inner, *fields))} }}"

    def _field(self, type_: DataType, path: str) -> tuple[str, list[str]]:
        match type_:
            case Array(element):
                if isinstance(element, Array | Map):
                    raise PlanError(f"{path}: Protobuf has no array of {element.ddl()}")
                word, nested = self._field(element, path)
                return f"repeated {word}", nested
            case Map(key, value):
                if isinstance(value, Array | Map):
                    raise PlanError(f"{path}: Protobuf has no map of {value.ddl()}")
                key_word, _ = self._field(key, path)
                word, nested = self._field(value, path)
                return f"map<{key_word}, {word}>", nested
            case Struct():
                name = _NAME.format(self._count + 1)
                return name, [self.of(type_)]
            case _ if type_ in self._words:
                return self._words[type_], []
        raise PlanError(f"{path}: {type_.ddl()} cannot be written as Protobuf without a schema yet")
