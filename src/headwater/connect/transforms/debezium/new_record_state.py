"""ExtractNewRecordState: the row after a change, in place of Debezium's envelope around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigDef, ConfigType, one_of
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import field_of, text
from headwater.connect.transforms.debezium.envelope import Added, is_envelope, read_added
from headwater.connect.transforms.headers import header_bytes, with_headers
from headwater.connect.transforms.settings import given_text, settings
from headwater.connect.transforms.structs import Part, new_schema, new_struct
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variants import as_map, entry, put, to_variant

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_MODES = ("drop", "tombstone", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone")
_MODE = "delete.tombstone.handling.mode"
_DELETED = "__deleted"
_KEPT = {
    "drop": "value is not null and not ({deleted})",
    "tombstone": "value is null or not ({deleted})",
    "rewrite": "value is not null",
    "rewrite-with-tombstone": None,
    "delete-to-tombstone": "value is not null",
}


@dataclass(frozen=True)
class ExtractNewRecordState:
    """Unwraps change events; what becomes of deletes and their tombstones is `mode`."""

    mode: str
    fields: tuple[Added, ...]
    headers: tuple[Added, ...]
    route_by: str | None

    class_names: ClassVar[tuple[str, ...]] = ("io.debezium.transforms.ExtractNewRecordState",)
    doc: ClassVar[str] = "Puts the row after a change in place of Debezium's envelope around it."
    definitions: ClassVar[Definitions] = settings(
        ConfigDef(
            _MODE,
            ConfigType.STRING,
            None,
            "What becomes of deletes and their tombstones: drop leaves both out, tombstone keeps "
            "the tombstones (the default), rewrite keeps the deleted row with __deleted, "
            "rewrite-with-tombstone both, and delete-to-tombstone makes deletes tombstones.",
            one_of(*_MODES),
        ),
        ConfigDef("drop.tombstones", ConfigType.BOOLEAN, True, "An older way to say it."),
        ConfigDef(
            "delete.handling.mode",
            ConfigType.STRING,
            None,
            "An older way to say it.",
            one_of("drop", "rewrite", "none"),
        ),
        ConfigDef(
            "add.fields",
            ConfigType.LIST,
            (),
            "Fields of the envelope to add, such as op,table,source.ts_ms,db:database.",
        ),
        ConfigDef("add.fields.prefix", ConfigType.STRING, "__", "What their names start with."),
        ConfigDef("add.headers", ConfigType.LIST, (), "Fields of the envelope to add as headers."),
        ConfigDef("add.headers.prefix", ConfigType.STRING, "__", "What their names start with."),
        ConfigDef("route.by.field", ConfigType.STRING, None, "The row's field to name topics by."),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the settings, the older ones too."""
        del class_name
        return cls(
            values.text(_MODE) or _older_mode(values),
            read_added(
                values.words("add.fields"), given_text(values, "add.fields.prefix"), "add.fields"
            ),
            read_added(
                values.words("add.headers"), given_text(values, "add.headers.prefix"), "add.headers"
            ),
            values.text("route.by.field"),
        )

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the rows; what is no change event stays as it is."""
        if shape.value is None:
            return self._schemaless(shape), shape
        if not is_envelope(shape.value):
            return Step(), shape
        return self._with_schema(shape.value, shape)

    @property
    def _rewrites(self) -> bool:
        return self.mode.startswith("rewrite")

    def _with_schema(self, schema: Schema, shape: Shape) -> tuple[Step, Shape]:
        deleted = "coalesce(value.op = 'd', false)"
        after = schema.field("after")
        assert after is not None  # it is an envelope
        before = schema.field("before")
        parts: list[Part] = []
        for each in after.schema.fields:
            value = field_of("value.after", each.name)
            if self._rewrites and before is not None and before.schema.field(each.name):
                value = f"if({deleted}, {field_of('value.before', each.name)}, {value})"
            parts.append(Part(each.name, value, each.schema))
        row_fields = {part.name: part.sql for part in parts}
        if self._rewrites:
            shown = f"if({deleted}, 'true', 'false')"
            parts.append(Part(_DELETED, shown, Schema(Type.STRING, optional=True)))
        for added in self.fields:
            value, of = _in_envelope(added, schema)
            parts.append(Part(added.name, value, of.as_optional()))
        empty = f"value is null or {deleted}" if not self._rewrites else "value is null"
        columns = {"value": f"if({empty}, null, {new_struct(parts)})"}
        columns |= self._headers(
            [(a.name, header_bytes(*_in_envelope(a, schema), shape.headers)) for a in self.headers]
        )
        if self.route_by is not None:
            if self.route_by not in row_fields:
                raise TransformError(f"route.by.field: there is no field {self.route_by}")
            columns["topic"] = f"coalesce(cast({row_fields[self.route_by]} as string), topic)"
        made = shape.with_side("value", new_schema(after.schema, parts))
        return Step(columns, where=self._where(deleted)), made

    def _schemaless(self, shape: Shape) -> Step:
        fields = as_map("value")
        is_event = f"coalesce(map_contains_key({fields}, 'op'), false)"
        deleted = f"({is_event} and cast({entry(fields, 'op')} as string) = 'd')"
        row = as_map(entry(fields, "after"))
        if self._rewrites:
            row = f"if({deleted}, {as_map(entry(fields, 'before'))}, {row})"
        new = (
            {_DELETED: f"cast(if({deleted}, 'true', 'false') as variant)"} if self._rewrites else {}
        )
        new |= {added.name: added.path.in_variant("value") for added in self.fields}
        made = to_variant(put(row, new) if new else row)
        empty = "false" if self._rewrites else deleted
        columns = {"value": f"if(not {is_event}, value, if({empty}, null, {made}))"}
        columns |= self._headers(
            [
                (each.name, header_bytes(each.path.in_variant("value"), None, shape.headers))
                for each in self.headers
            ]
        )
        if self.route_by is not None:
            field = f"cast({entry(row, self.route_by)} as string)"
            columns["topic"] = f"coalesce({field}, topic)"
        return Step(columns, where=self._where(deleted))

    def _headers(self, added: list[tuple[str, str]]) -> dict[str, str]:
        if not added:
            return {}
        return {"headers": f"if(value is null, headers, {with_headers(added)})"}

    def _where(self, deleted: str) -> str | None:
        kept = _KEPT[self.mode]
        return None if kept is None else kept.format(deleted=deleted)


def _in_envelope(added: Added, schema: Schema) -> tuple[str, Schema]:
    field = added.path.field(schema)
    if field is None:
        names = ", ".join(each.name for each in schema.fields)
        raise TransformError(f"{added.path.text} is not in the envelope, which has {text(names)}")
    return added.path.in_struct("value", schema, replace_null=True), field.schema


def _older_mode(values: Values) -> str:
    deletes = values.text("delete.handling.mode")
    if deletes is None and "drop.tombstones" not in values:
        return "tombstone"
    drops = values.boolean("drop.tombstones")
    match deletes or "drop":
        case "rewrite":
            return "rewrite" if drops else "rewrite-with-tombstone"
        case "none":
            return "delete-to-tombstone"
    return "drop" if drops else "tombstone"
