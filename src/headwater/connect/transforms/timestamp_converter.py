"""TimestampConverter: moments as text, numbers, dates, times or timestamps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from headwater.config import ConfigDef, ConfigError, ConfigType, Importance, one_of
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.date_patterns import DATE_PATTERN
from headwater.connect.transforms.settings import (
    REPLACE_NULL,
    given_text,
    required,
    settings,
    side_of,
    sided,
)
from headwater.connect.transforms.structs import Part, new_schema, new_struct_like, parts_of
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variant_casts import kind_of
from headwater.connect.transforms.variants import as_map, no_map, put, to_variant, variant

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "converting timestamp formats"
_TARGETS = ("string", "unix", "Date", "Time", "Timestamp")
_PRECISIONS = ("nanoseconds", "microseconds", "milliseconds", "seconds")
_DAY_MS = 86_400_000
_MOST_MS = 9_223_372_036_854_775


class _Moment(NamedTuple):
    """Milliseconds since 1970, and what tells text that is no moment."""

    millis: str
    failed: str | None = None


@dataclass(frozen=True)
class TimestampConverter:
    """Converts a field, or without one the whole key or value."""

    side: str
    field: str
    target: str
    format: str
    precision: str
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("TimestampConverter")
    doc: ClassVar[str] = "Converts a moment between text, Unix time, Date, Time and Timestamp."
    definitions: ClassVar[Definitions] = settings(
        required(
            "target.type",
            ConfigType.STRING,
            "What it is to become: string, unix, Date, Time or Timestamp.",
            one_of(*_TARGETS),
        ),
        ConfigDef(
            "field",
            ConfigType.STRING,
            "",
            "The field with the moment; empty if the whole key or value is one.",
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "format",
            ConfigType.STRING,
            "",
            "The pattern of text that is read or written, as Java's SimpleDateFormat has them, "
            "in UTC.",
            DATE_PATTERN,
        ),
        ConfigDef(
            "unix.precision",
            ConfigType.STRING,
            "milliseconds",
            "The unit of Unix time that is read or written.",
            one_of(*_PRECISIONS),
            importance=Importance.LOW,
        ),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the settings; text needs a pattern."""
        target, pattern = given_text(values, "target.type"), given_text(values, "format")
        if target == "string" and not pattern.strip():
            raise ConfigError(
                "format",
                pattern,
                "TimestampConverter requires format option to be specified when using string "
                "timestamps, such as yyyy-MM-dd",
            )
        return cls(
            side_of(class_name),
            given_text(values, "field"),
            target,
            pattern,
            given_text(values, "unix.precision"),
            values.boolean(REPLACE_NULL.name),
        )

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the moments as what they are to be; null stays null."""
        schema = shape.of(self.side)
        if schema is None:
            return self._schemaless(), shape
        if not self.field:
            moment = self._read(self.side, schema)
            made = shape.with_side(self.side, self._schema(optional=schema.optional))
            return Step({self.side: self._written(moment.millis)}, failed=moment.failed), made
        failed = None
        parts: list[Part] = []
        for part in parts_of(self.side, schema, _PURPOSE, replace_null=self.replace_null):
            if part.name != self.field:
                parts.append(part)
                continue
            millis, failed = self._read(part.sql, part.schema)
            of = self._schema(optional=part.schema.optional)
            parts.append(Part(part.name, self._written(millis), of))
        made = shape.with_side(
            self.side, replace(new_schema(schema, parts), optional=schema.optional)
        )
        return Step({self.side: new_struct_like(self.side, parts)}, failed=failed), made

    def _read(self, value: str, schema: Schema) -> _Moment:
        match schema.logical:
            case connect.TIMESTAMP:
                return _Moment(f"unix_millis({value})")
            case connect.DATE:
                return _Moment(f"(cast(unix_date({value}) as bigint) * {_DAY_MS})")
            case connect.TIME:
                return _Moment(f"cast({value} as bigint)")
        if schema.type is Type.STRING:
            return self._read_text(value)
        if schema.type is Type.INT64:
            return _Moment(self._read_unix(value))
        raise TransformError(
            f"Schema {schema.name or schema.type.value} does not correspond to a known timestamp "
            "type format"
        )

    def _read_text(self, value: str) -> _Moment:
        parsed = f"unix_millis(try_to_timestamp({value}, {text(self.format)}))"
        message = text(f") does not match pattern ({self.format})")
        failed = (
            f"if({value} is not null and {parsed} is null, "
            f"concat('Could not parse timestamp: value (', {value}, {message}), null)"
        )
        return _Moment(parsed, failed)

    def _read_unix(self, value: str) -> str:
        match self.precision:
            case "seconds":
                return f"try_multiply({value}, 1000L)"
            case "microseconds":
                return f"({value} div 1000)"
            case "nanoseconds":
                return f"({value} div 1000000)"
        return value

    def _written(self, millis: str) -> str:
        match self.target:
            case "unix":
                return self._unix(millis)
            case "string":
                return f"date_format({_moment(millis)}, {text(self.format)})"
            case "Date":
                return f"cast({_moment(millis)} as date)"
            case "Time":
                return f"cast(pmod({millis}, {_DAY_MS}) as int)"
        return _moment(millis)

    def _unix(self, millis: str) -> str:
        match self.precision:
            case "seconds":
                return f"({millis} div 1000)"
            case "microseconds":
                return f"try_multiply({millis}, 1000L)"
            case "nanoseconds":
                return f"try_multiply({millis}, 1000000L)"
        return millis

    def _schema(self, *, optional: bool) -> Schema:
        match self.target:
            case "unix":
                return Schema(Type.INT64, optional)
            case "string":
                return Schema(Type.STRING, optional)
            case "Date":
                return connect.date(optional=optional)
            case "Time":
                return connect.time(optional=optional)
        return connect.timestamp(optional=optional)

    def _schemaless(self) -> Step:
        if not self.field:
            value, failed = self._variant(variant(self.side))
            return Step({self.side: value}, failed=failed)
        fields = as_map(self.side)
        value, failed = self._variant(f"{fields}[{text(self.field)}]")
        failed = f"coalesce({no_map(self.side, _PURPOSE)}, {failed})"
        return Step({self.side: to_variant(put(fields, {self.field: value}))}, failed=failed)

    def _variant(self, value: str) -> tuple[str, str]:
        """Return a variant: what it was shows in each record."""
        kind = kind_of(value)
        parsed, wrong_text = self._read_text(f"try_variant_get({value}, '$', 'string')")
        cases = {
            "= 'BIGINT'": self._read_unix(f"try_variant_get({value}, '$', 'bigint')"),
            "= 'STRING'": parsed,
            "in ('TIMESTAMP', 'DATE')": (
                f"unix_millis(try_variant_get({value}, '$', 'timestamp'))"
            ),
        }
        millis = " ".join(f"when {kind} {test} then {sql}" for test, sql in cases.items())
        message = text("TimestampConverter does not support such values as timestamps: ")
        failed = (
            f"case when {value} is null or is_variant_null({value}) or {kind} = 'BIGINT' or "
            f"{kind} in ('TIMESTAMP', 'DATE') then null when {kind} = 'STRING' then {wrong_text} "
            f"else concat({message}, to_json({value})) end"
        )
        return f"cast({self._written(f'(case {millis} end)')} as variant)", failed


def _moment(millis: str) -> str:
    # Spark counts microseconds in 64 bits: what is beyond those is no moment, and no failure.
    return f"timestamp_millis(if(abs({millis}) <= {_MOST_MS}, {millis}, null))"
