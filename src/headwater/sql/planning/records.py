"""How rows of a source are records of its topic: the types and formats of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from headwater.plan.expressions.expressions import Case, Column, Expression, StructOf
from headwater.plan.formats import Format
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import BIGINT as PLAN_BIGINT
from headwater.plan.schemas.types import BINARY, DataType, Field, Struct
from headwater.sql.errors import SqlError
from headwater.sql.metastore.formats import types_within
from headwater.sql.metastore.source import PSEUDO_COLUMNS, WINDOW_BOUNDS, WindowKind
from headwater.sql.planning.formulas import formula, literal
from headwater.sql.planning.wire_types import (
    IN_ROWS,
    WireForms,
    forms_of,
    from_wire,
    to_wire,
    wire_type,
)
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import (
    BIGINT,
    BYTES,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    SqlType,
    kind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.metastore.source import DataSource, SourceColumn

_KAFKA: dict[SqlType, str] = {
    STRING: "string",
    INTEGER: "int",
    BIGINT: "long",
    DOUBLE: "double",
    BYTES: "bytes",
}
_KINDS = {
    "JSON": "json",
    "DELIMITED": "delimited",
    "AVRO": "avro",
    "JSON_SR": "jsonschema",
    "PROTOBUF": "protobuf",
    "PROTOBUF_NOSR": "protobuf_nosr",
}
_NOT_YET = {"AVRO": frozenset(("TIME",))}
_VALUE, _KEY = Column(("record", "value")), Column(("record", "key"))


@dataclass(frozen=True)
class Records:
    """The records of a source's topic.

    In a topic times may be numbers or messages, and a key with windows is a struct; `row` is what a
    plan makes of it, with `key` and `value` that `column` finds its way in. `wire_row` is the
    topic's own.
    """

    source: DataSource

    @property
    def key_format(self) -> Format:
        """The format of the keys; of what has no key, nobody reads the bytes."""
        if not self.source.key:
            return Format("bytes")
        format_ = _format(self.source.key_format, self.source.key)
        if self.source.window is None:
            return format_
        is_session = self.source.window.kind is WindowKind.SESSION
        return replace(format_, window="session" if is_session else "time")

    @property
    def value_format(self) -> Format:
        """The format of the values."""
        return _format(self.source.value_format, self.source.value)

    @property
    def key_type(self) -> DataType:
        """The type of the key: of its only column, or a struct of them; with its window if any."""
        return self._with_window(key_type(_in_form(self.source.key, IN_ROWS)))

    @property
    def value_type(self) -> DataType:
        """The type of the value: a struct, or its only column where that is not wrapped."""
        return self._value_type(_in_form(self.source.value, IN_ROWS))

    @property
    def is_unwrapped(self) -> bool:
        """Whether the value is its only column."""
        source = self.source
        if len(source.value) != 1 or source.value_format.name == "DELIMITED":
            return False
        if source.value_format.name == "KAFKA":
            return True
        return source.wrap_single_value is False

    @property
    def row(self) -> RowType:
        """The types of a record as a plan has it."""
        return RowType(self.key_type, self.value_type, has_position=True)

    @property
    def wire_row(self) -> RowType:
        """The types of a record in its topic."""
        key = self._wire_key
        value = _in_form(self.source.value, _forms(self.source.value_format))
        return RowType(self._with_window(key), self._value_type(value), has_position=True)

    def read(self) -> dict[str, Expression]:
        """Return key and value of the plan, over those of the topic, where they differ."""
        return self._where_they_differ(from_wire, is_read=True)

    def written(self) -> dict[str, Expression]:
        """Return key and value of the topic, over those of the plan, where they differ."""
        return self._where_they_differ(to_wire, is_read=False)

    def column(self, name: str) -> Expression:
        """Return what stands for a column of a record."""
        pseudo = _PSEUDO.get(name)
        if pseudo is not None:
            return pseudo
        if name in WINDOW_BOUNDS:
            return self._window_bound(name)
        column = self.source.column(name)
        assert column is not None, f"{self.source.name} has no {name}"
        if column.is_header:
            return _header(column)
        if column.is_key:
            inside = () if len(self.source.key) == 1 else (name,)
            return Column((*self._key_path, *inside))
        return Column(("record", "value", *(() if self.is_unwrapped else (name,))))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, those that nobody declares included."""
        bounds = WINDOW_BOUNDS if self.source.is_windowed else ()
        return (*(column.name for column in self.source.columns), *PSEUDO_COLUMNS, *bounds)

    @property
    def timestamp_by(self) -> Expression | None:
        """The column that says the time of a record, as one, over the record of the topic."""
        given = self.source.timestamp
        if given is None:
            return None
        column = self.source.column(given.name)
        assert column is not None
        value = self.column(given.name)
        if column.is_key and self._has_message_as_key:
            value = Column((*self._key_path, given.name))
        chosen = self.source.key_format if column.is_key else self.source.value_format
        value = from_wire(value, column.type, _forms(chosen))
        return _time_of(value, column.type, given.pattern)

    @property
    def written_timestamp(self) -> Expression | None:
        """The time that a query's result has by one of its columns, over the record of the plan."""
        given = self.source.timestamp
        if given is None:
            return None
        column = self.source.column(given.name)
        assert column is not None
        at = _time_of(self.column(given.name), column.type, given.pattern)
        # A tombstone has no columns, and the time that it had.
        return formula("coalesce({0}, {1})", TIMESTAMP, at, Column(("record", "timestamp")))

    @property
    def _wire_key(self) -> DataType:
        columns = _in_form(self.source.key, _forms(self.source.key_format))
        return _struct_of(columns) if self._has_message_as_key else key_type(columns)

    @property
    def _has_message_as_key(self) -> bool:
        """Whether the only column of the key is in a message: Protobuf has nothing else."""
        return len(self.source.key) == 1 and self.source.key_format.name.startswith("PROTOBUF")

    @property
    def _key_path(self) -> tuple[str, ...]:
        return ("record", "key", "key") if self.source.is_windowed else ("record", "key")

    def _window_bound(self, name: str) -> Expression:
        window = self.source.window
        assert window is not None, f"{self.source.name} has no windows"
        start = Column(("record", "key", "window_start"))
        if name == "WINDOWSTART":
            return start
        if window.kind is WindowKind.SESSION:
            return Column(("record", "key", "window_end"))
        return formula(f"({{0}} + {window.size_ms or 0}L)", BIGINT, start)

    def _with_window(self, key: DataType) -> DataType:
        if self.source.window is None:
            return key
        fields = [Field("key", key), Field("window_start", PLAN_BIGINT)]
        if self.source.window.kind is WindowKind.SESSION:
            fields.append(Field("window_end", PLAN_BIGINT))
        return Struct(tuple(fields))

    def _value_type(self, columns: Sequence[SourceColumn]) -> DataType:
        if self.is_unwrapped:
            return to_plan(columns[0].type)
        return _struct_of(columns)

    def _where_they_differ(
        self, convert: _ConversionByForms, *, is_read: bool
    ) -> dict[str, Expression]:
        found = {}
        source = self.source
        if self._has_message_as_key or _differs(source.key, source.key_format):
            forms = _forms(source.key_format)
            found["key"] = self._converted_key(
                lambda value, type_: convert(value, type_, forms), is_read=is_read
            )
        if _differs(source.value, source.value_format):
            its = _forms(source.value_format)
            found["value"] = self._converted_value(lambda value, type_: convert(value, type_, its))
        return found

    def _converted_key(self, convert: _Conversion, *, is_read: bool) -> Expression:
        first, path = self.source.key[0], self._key_path
        if not self._has_message_as_key:
            key = self._converted(self.source.key, path, convert, len(self.source.key) == 1)
        elif is_read:
            key = convert(Column((*path, first.name)), first.type)
        else:
            whole = Column(path)
            message = StructOf(((first.name, convert(whole, first.type)),))
            key = Case(((whole.isNotNull(), message),))
        window = self.source.window
        if window is None:
            return key
        names = ["window_start"] + (["window_end"] if window.kind is WindowKind.SESSION else [])
        bounds = ((name, Column(("record", "key", name))) for name in names)
        return Case(((_KEY.isNotNull(), StructOf((("key", key), *bounds))),))

    def _converted_value(self, convert: _Conversion) -> Expression:
        return self._converted(self.source.value, ("record", "value"), convert, self.is_unwrapped)

    def _converted(
        self,
        columns: Sequence[SourceColumn],
        path: tuple[str, ...],
        convert: _Conversion,
        is_bare: bool,
    ) -> Expression:
        whole = Column(path)
        if is_bare:
            return convert(whole, columns[0].type)
        fields = tuple(
            (column.name, convert(Column((*path, column.name)), column.type)) for column in columns
        )
        return Case(((whole.isNotNull(), StructOf(fields)),))


_Conversion: TypeAlias = Callable[[Expression, SqlType], Expression]
_ConversionByForms: TypeAlias = Callable[[Expression, SqlType, WireForms], Expression]


def _time_of(value: Expression, type_: SqlType, pattern: str | None) -> Expression:
    """Return what a column says the time of its row is."""
    if type_ == BIGINT:
        return formula("timestamp_millis({0})", TIMESTAMP, value)
    if type_ == TIMESTAMP:
        return value
    return formula(
        f"timestamp_millis(hw_parse_time({{0}}, {literal(pattern)}, 'UTC'))", TIMESTAMP, value
    )


def _in_form(columns: Sequence[SourceColumn], forms: WireForms) -> Sequence[SourceColumn]:
    return [replace(column, type=wire_type(column.type, forms)) for column in columns]


def _differs(columns: Sequence[SourceColumn], chosen: ChosenFormat) -> bool:
    """Tell whether a topic has something else than rows have."""
    return _in_form(columns, _forms(chosen)) != _in_form(columns, IN_ROWS)


def _forms(chosen: ChosenFormat) -> WireForms:
    return forms_of(chosen.name)


_PSEUDO: dict[str, Expression] = {
    "ROWTIME": formula("unix_millis({0})", BIGINT, Column(("record", "timestamp"))),
    "ROWPARTITION": Column(("record", "partition")),
    "ROWOFFSET": Column(("record", "offset")),
}


def _header(column: SourceColumn) -> Expression:
    """Return all headers, or the last one of a name."""
    headers = Column(("record", "headers"))
    if column.header is None:
        made = "transform({0}, _h -> named_struct('KEY', _h.key, 'VALUE', _h.value))"
        return formula(made, column.type, headers)
    found = f"try_element_at(filter({{0}}, _h -> _h.key = {literal(column.header)}), -1).value"
    return formula(found, column.type, headers)


def key_type(columns: Sequence[SourceColumn]) -> DataType:
    """Return the type of a key of these columns; without any it is bytes that are always null."""
    if not columns:
        return BINARY
    if len(columns) == 1:
        return to_plan(columns[0].type)
    return _struct_of(columns)


def _struct_of(columns: Sequence[SourceColumn]) -> Struct:
    return Struct(tuple(Field(column.name, to_plan(column.type)) for column in columns))


def _format(chosen: ChosenFormat, columns: Sequence[SourceColumn]) -> Format:
    if chosen.name == "KAFKA":
        return Format("bytes" if not columns else _KAFKA[columns[0].type])
    if chosen.name not in _KINDS:
        raise SqlError(f"the {chosen.name} format cannot be read or written yet")
    for column in columns:
        kinds = {kind(type_) for type_ in types_within(column.type)}
        for refused in sorted(kinds & _NOT_YET.get(chosen.name, frozenset())):
            raise SqlError(f"{refused} in the {chosen.name} format cannot be read or written yet")
    delimiter = dict(chosen.properties).get("DELIMITER", ",")
    return Format(
        _KINDS[chosen.name],
        delimiter=delimiter,
        lenient=chosen.name == "JSON",
        message=chosen.message,
    )
