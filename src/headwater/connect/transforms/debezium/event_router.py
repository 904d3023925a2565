"""EventRouter: rows of an outbox table as the events that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from headwater.config import ConfigDef, ConfigError, ConfigType, one_of
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import field_of, matches, text
from headwater.connect.transforms.debezium.envelope import is_envelope
from headwater.connect.transforms.headers import header_bytes, with_headers
from headwater.connect.transforms.regex_router import first_replaced
from headwater.connect.transforms.settings import JAVA_REGEX, given_text, settings
from headwater.connect.transforms.structs import Part, new_schema, new_struct
from headwater.connect.transforms.transform import Step, TransformError

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.header_format import HeaderFormat
    from headwater.connect.data.shape import Shape

_PLACES = ("header", "envelope", "partition")


class _Placed(NamedTuple):
    column: str
    place: str
    name: str


def _text(name: str, default: str | None, doc: str) -> ConfigDef:
    return ConfigDef(name, ConfigType.STRING, default, doc)


@dataclass(frozen=True)
class EventRouter:
    """Routes the rows that are inserted into an outbox table to the topics of their kind."""

    id: str
    key: str
    payload: str
    timestamp: str | None
    route_by: str
    regex: str
    replacement: str
    placed: tuple[_Placed, ...]
    empty_is_tombstone: bool
    fails_on_update: bool

    class_names: ClassVar[tuple[str, ...]] = ("io.debezium.transforms.outbox.EventRouter",)
    doc: ClassVar[str] = "Makes events of the rows that are inserted into an outbox table."
    definitions: ClassVar[Definitions] = settings(
        _text("table.field.event.id", "id", "The column with the event's id, a header."),
        _text("table.field.event.key", "aggregateid", "The column with the event's key."),
        _text("table.field.event.payload", "payload", "The column with the event's value."),
        _text("table.field.event.timestamp", None, "The column with its time, in milliseconds."),
        ConfigDef(
            "table.fields.additional.placement",
            ConfigType.LIST,
            (),
            "Further columns and where they go: column:header, column:envelope:name or "
            "column:partition.",
        ),
        _text("route.by.field", "aggregatetype", "The column that names the topic."),
        ConfigDef(
            "route.topic.regex",
            ConfigType.STRING,
            "(?<routedByValue>.*)",
            "What matches that column.",
            JAVA_REGEX,
        ),
        _text(
            "route.topic.replacement",
            "outbox.event.${routedByValue}",
            "The name of the topic, with the groups of the expression.",
        ),
        ConfigDef(
            "route.tombstone.on.empty.payload",
            ConfigType.BOOLEAN,
            False,
            "Whether an empty payload is a tombstone.",
        ),
        ConfigDef(
            "table.op.invalid.behavior",
            ConfigType.STRING,
            "warn",
            "What becomes of rows that are updated: warn and error leave them out, fatal fails.",
            one_of("warn", "error", "fatal"),
        ),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take Debezium's settings."""
        del class_name
        return cls(
            given_text(values, "table.field.event.id"),
            given_text(values, "table.field.event.key"),
            given_text(values, "table.field.event.payload"),
            values.text("table.field.event.timestamp"),
            given_text(values, "route.by.field"),
            given_text(values, "route.topic.regex"),
            given_text(values, "route.topic.replacement"),
            tuple(map(_placed, values.words("table.fields.additional.placement"))),
            values.boolean("route.tombstone.on.empty.payload"),
            values.text("table.op.invalid.behavior") == "fatal",
        )

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the events; deletes and tombstones are left out, as the outbox is emptied."""
        if shape.value is None or not is_envelope(shape.value):
            raise TransformError("it takes change events with a schema, in Debezium's envelope")
        after = shape.value.field("after")
        assert after is not None  # it is an envelope
        row = after.schema
        route = f"cast({_column(row, self.route_by).sql} as string)"
        routed = first_replaced(route, self.regex, self.replacement)
        key = _column(row, self.key)
        columns = {
            "topic": f"if({matches(route, self.regex)}, {routed}, topic)",
            "key": key.sql,
            "headers": with_headers(self._headers(row, shape.headers)),
        }
        if self.timestamp is not None:
            columns["timestamp"] = _moment(_column(row, self.timestamp))
        for each in self.placed:
            if each.place == "partition":
                columns["partition"] = f"try_cast({_column(row, each.column).sql} as int)"
        columns["value"], schema = self._value(row)
        kept = "coalesce(value.op in ('c', 'r'), false)"
        failed = None
        if self.fails_on_update:
            message = text("Unexpected update message received from the outbox table")
            failed = f"if(value.op = 'u', {message}, null)"
        made = shape.with_side("key", key.schema).with_side("value", schema)
        return Step(columns, where=kept, failed=failed), made

    def _headers(self, row: Schema, format_: HeaderFormat) -> list[tuple[str, str]]:
        found = _column(row, self.id)
        headers = [("id", header_bytes(found.sql, found.schema, format_))]
        for column, place, name in self.placed:
            if place == "header":
                found = _column(row, column)
                headers.append((name, header_bytes(found.sql, found.schema, format_)))
        return headers

    def _value(self, row: Schema) -> tuple[str, Schema]:
        payload = _column(row, self.payload)
        empty = f"{payload.sql} is null"
        if self.empty_is_tombstone and payload.schema.type is Type.STRING:
            empty = f"{empty} or {payload.sql} = ''"
        added = [
            _column(row, column)._replace(name=name)
            for column, place, name in self.placed
            if place == "envelope"
        ]
        if not added:
            return f"if({empty}, null, {payload.sql})", payload.schema
        parts = [payload._replace(name="payload"), *added]
        value = new_struct(parts)
        if self.empty_is_tombstone:
            value = f"if({empty}, null, {value})"
        return value, new_schema(Schema(Type.STRUCT), parts)


def _column(row: Schema, name: str) -> Part:
    field = row.field(name)
    if field is None:
        names = ", ".join(each.name for each in row.fields)
        raise TransformError(f"the outbox table has no column {name}; there are {names}")
    return Part(name, field_of("value.after", name), field.schema)


def _moment(column: Part) -> str:
    if column.schema.logical is not None:
        return f"coalesce(cast({column.sql} as timestamp), timestamp)"
    return f"coalesce(timestamp_millis(cast({column.sql} as bigint)), timestamp)"


def _placed(spec: str) -> _Placed:
    column, _, rest = spec.partition(":")
    place, _, name = rest.partition(":")
    if not column or place not in _PLACES:
        raise ConfigError(
            "table.fields.additional.placement",
            spec,
            f"it is a column, one of {', '.join(_PLACES)}, and a name: type:header:eventType",
        )
    return _Placed(column, place, name or column)
