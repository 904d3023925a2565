"""Says why one Avro schema cannot read what another one wrote: what, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.registry.formats.base import Incompatibility
from headwater.registry.formats.effort import MOST_DIFFERENCES, Effort

if TYPE_CHECKING:
    from headwater.registry.formats.avro_schema import AvroField, AvroType

# What a reader's type can also read.
_PROMOTIONS = {
    "long": {"int"},
    "float": {"int", "long"},
    "double": {"int", "long", "float"},
    "bytes": {"string"},
    "string": {"bytes"},
}


def explain(reader: AvroType, writer: AvroType) -> list[Incompatibility]:
    """Return the reasons, in the order of the reader's schema.

    Raises InvalidSchemaError where that is too much work.
    """
    return _Explainer().compare(reader, writer, "")


class _Explainer:
    def __init__(self) -> None:
        self._found: dict[tuple[int, int], list[Incompatibility]] = {}
        self._effort = Effort()

    def compare(self, reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
        pair = (id(reader), id(writer))
        if pair not in self._found:
            # A type that is in itself reads itself if everything else in it does.
            self._found[pair] = []
            self._found[pair] = self._compare(reader, writer, path)[:MOST_DIFFERENCES]
        self._effort.spend(1 + len(self._found[pair]))
        return self._found[pair]

    def _compare(self, reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
        kind, other = _kind(reader), _kind(writer)
        if kind != other:
            return self._compare_different(reader, writer, path)
        match kind:
            case "array" | "map":
                assert reader.items is not None
                assert writer.items is not None
                key = "items" if kind == "array" else "values"
                return self.compare(reader.items, writer.items, f"{path}/{key}")
            case "record":
                return self._names(reader, writer, path) + self._fields(reader, writer, path)
            case "enum":
                return self._names(reader, writer, path) + _symbols(reader, writer, path)
            case "fixed":
                return self._names(reader, writer, path) + _sizes(reader, writer, path)
            case "union":
                return self._branches(reader, writer, path)
            case _:
                return []

    def _compare_different(
        self, reader: AvroType, writer: AvroType, path: str
    ) -> list[Incompatibility]:
        if writer.kind == "union":
            return [
                reason
                for branch in writer.branches
                for reason in self.compare(reader, branch, path)
            ]
        if reader.kind == "union":
            if any(not self.compare(branch, writer, path) for branch in reader.branches):
                return []
            return [_missing_branch(reader, writer, path)]
        if writer.kind in _PROMOTIONS.get(reader.kind, ()):
            return []
        name, other = _name(reader), _name(writer)
        return [
            Incompatibility(
                "TYPE_MISMATCH",
                path or "/",
                f"it is {name} in the {{reader}} schema, which cannot read the {other} "
                "of the {writer} schema",
                f"Keep {other}, widen it (int, long, float, double), or make it the union "
                f'["{other}", "{name}"]',
                f"Keep {name}, or add a new field beside the old one",
            )
        ]

    def _branches(self, reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
        return [
            _missing_branch(reader, branch, f"{path}/{number}")
            for number, branch in enumerate(writer.branches)
            if self.compare(reader, branch, path)
        ]

    def _names(self, reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
        if reader.simple_name == writer.simple_name or writer.name in reader.aliases:
            return []
        return [
            Incompatibility(
                "NAME_MISMATCH",
                f"{path}/name",
                f"the {_kind(reader)} is called {reader.name} in the {{reader}} schema and "
                f"{writer.name} in the {{writer}} schema",
                f"Keep the name {writer.name}, or make it an alias of {reader.name}",
                f"Keep the name {reader.name}",
            )
        ]

    def _fields(self, reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
        written = {field.name: field for field in writer.fields}
        reasons: list[Incompatibility] = []
        for number, field in enumerate(reader.fields):
            where = f"{path}/fields/{number}"
            names = (field.name, *field.aliases)
            match = next((written[name] for name in names if name in written), None)
            if match is not None:
                reasons += self.compare(field.type, match.type, f"{where}/type")
            elif not field.has_default:
                reasons.append(_missing_default(field, where))
        return reasons


def _missing_default(field: AvroField, path: str) -> Incompatibility:
    return Incompatibility(
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        path,
        f"the field {field.name} of the {{reader}} schema has no default, and the {{writer}} "
        "schema has no such field, so that its data cannot be read",
        f"Give {field.name} a default, or, if it is an old field renamed, the old name as an alias",
        f"Keep the field {field.name}, or let it have a default before it is removed",
    )


def _missing_branch(reader: AvroType, writer: AvroType, path: str) -> Incompatibility:
    name = _name(writer)
    return Incompatibility(
        "MISSING_UNION_BRANCH",
        path or "/",
        f"the union of the {{reader}} schema has no branch that can read {name} "
        "of the {writer} schema",
        f"Add {name} to the union",
        f"Do not write {name} before all readers have it in their union",
    )


def _symbols(reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
    missing = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
    if not missing or reader.default_symbol is not None:
        return []
    symbols = ", ".join(missing)
    return [
        Incompatibility(
            "MISSING_ENUM_SYMBOLS",
            f"{path}/symbols",
            f"the enum {reader.name} of the {{reader}} schema lacks {symbols}, which the "
            "{writer} schema has",
            f"Keep {symbols}, or give the enum a default",
            f"Do not add {symbols}: the old enum has no default for symbols that it does not know",
        )
    ]


def _sizes(reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
    if reader.size == writer.size:
        return []
    return [
        Incompatibility(
            "FIXED_SIZE_MISMATCH",
            f"{path}/size",
            f"the fixed {reader.name} has {reader.size} bytes in the {{reader}} schema and "
            f"{writer.size} in the {{writer}} schema",
            f"Keep the size {writer.size}, or use a fixed of another name in a new field",
            f"Keep the size {reader.size}, or use a fixed of another name in a new field",
        )
    ]


def _kind(type_: AvroType) -> str:
    return "record" if type_.kind == "error" else type_.kind


def _name(type_: AvroType) -> str:
    return type_.name or type_.kind
