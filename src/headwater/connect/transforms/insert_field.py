"""InsertField: what is known of a record, or a fixed text, as further fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from headwater.config import ConfigDef, ConfigError, ConfigType
from headwater.connect.data.schema import Schema, Type, timestamp
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.settings import REPLACE_NULL, settings, side_of, sided
from headwater.connect.transforms.structs import Part, new_schema, new_struct_like, parts_of
from headwater.connect.transforms.transform import Step
from headwater.connect.transforms.variants import as_map, no_map, put, to_variant, variant

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "field insertion"
_MARKS = "End it with ! for a required field, or ? for an optional one, which is the default."


class _Insertion(NamedTuple):
    name: str
    optional: bool
    setting: str


def _setting(name: str, what: str) -> ConfigDef:
    return ConfigDef(name, ConfigType.STRING, None, f"The field for {what}. {_MARKS}")


_SETTINGS = (
    _setting("topic.field", "the name of the topic"),
    _setting("partition.field", "the number of the partition"),
    _setting("offset.field", "the offset, which only records of sinks have"),
    _setting("timestamp.field", "the record's timestamp"),
    _setting("static.field", "a text that is the same in all records"),
)


@dataclass(frozen=True)
class InsertField:
    """Adds fields to a struct or an object."""

    side: str
    insertions: tuple[_Insertion, ...]
    static: str
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("InsertField")
    doc: ClassVar[str] = "Adds fields: the topic, partition, offset, timestamp or a fixed text."
    definitions: ClassVar[Definitions] = settings(
        *_SETTINGS,
        ConfigDef("static.value", ConfigType.STRING, None, "The text of static.field."),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the names; there is at least one, and a static one has its text."""
        insertions = tuple(
            _insertion(name, each.name)
            for each in _SETTINGS
            if (name := values.text(each.name)) is not None
        )
        if not insertions:
            names = ", ".join(each.name for each in _SETTINGS)
            raise ConfigError("static.field", None, f"No field insertion configured: give {names}")
        static = values.text("static.value")
        if static is None and values.text("static.field") is not None:
            field = values.text("static.field")
            reason = f"No value specified for static field: {field}"
            raise ConfigError("static.value", None, reason)
        replace_null = values.boolean(REPLACE_NULL.name)
        return cls(side_of(class_name), insertions, static or "", replace_null)

    @property
    def needs_offset(self) -> bool:
        """Whether only records that come from a topic can be transformed so."""
        return any(each.setting == "offset.field" for each in self.insertions)

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the struct or object with its new fields; a tombstone stays one."""
        schema = shape.of(self.side)
        if schema is None:
            return Step({self.side: self._object()}, failed=no_map(self.side, _PURPOSE)), shape
        parts = parts_of(self.side, schema, _PURPOSE, replace_null=self.replace_null)
        for name, optional, setting in self.insertions:
            found, of = self._source(setting)
            parts.append(Part(name, found, of.as_optional() if optional else of))
        made = shape.with_side(self.side, new_schema(schema, parts))
        return Step({self.side: new_struct_like(self.side, parts)}), made

    def _object(self) -> str:
        found = as_map(self.side)
        for name, _, setting in self.insertions:
            if setting == "timestamp.field":
                added = put(found, {name: variant("unix_millis(timestamp)")})
                found = f"if(timestamp is null, {found}, {added})"
            elif setting == "partition.field":
                added = put(found, {name: variant("cast(partition as bigint)")})
                found = f"if(partition is null, {found}, {added})"
            else:
                found = put(found, {name: variant(self._source(setting)[0])})
        return to_variant(found)

    def _source(self, setting: str) -> tuple[str, Schema]:
        match setting:
            case "topic.field":
                return "topic", Schema(Type.STRING)
            case "partition.field":
                return "partition", Schema(Type.INT32)
            case "offset.field":
                return "_offset", Schema(Type.INT64)
            case "timestamp.field":
                return "timestamp", timestamp()
        return text(self.static), Schema(Type.STRING)


def _insertion(name: str, setting: str) -> _Insertion:
    is_marked = name.endswith(("?", "!"))
    return _Insertion(name[:-1] if is_marked else name, not name.endswith("!"), setting)
