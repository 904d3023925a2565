"""ReplaceField: fields left out, or under another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigDef, ConfigType, Validator
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.settings import REPLACE_NULL, settings, side_of, sided
from headwater.connect.transforms.structs import Part, new_schema, new_struct_like, parts_of
from headwater.connect.transforms.transform import Step
from headwater.connect.transforms.variants import as_map, no_map, to_variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "field replacement"
_PAIRS = Validator(
    "a list of colon-delimited pairs, such as foo:bar,abc:xyz",
    lambda value: all(each.strip(":").count(":") == 1 for each in value or ()),
)


@dataclass(frozen=True)
class ReplaceField:
    """Takes fields out of a struct or an object, and renames others."""

    side: str
    exclude: frozenset[str]
    include: frozenset[str]
    renames: Mapping[str, str]
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("ReplaceField")
    doc: ClassVar[str] = "Leaves fields out, keeps only some, or renames them."
    definitions: ClassVar[Definitions] = settings(
        ConfigDef("exclude", ConfigType.LIST, (), "The fields to leave out; goes before include."),
        ConfigDef("include", ConfigType.LIST, (), "The only fields to keep; without it all are."),
        ConfigDef("renames", ConfigType.LIST, (), "Pairs of an old and a new name.", _PAIRS),
        ConfigDef("blacklist", ConfigType.LIST, (), "The old name of exclude."),
        ConfigDef("whitelist", ConfigType.LIST, (), "The old name of include."),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the names."""
        return cls(
            side_of(class_name),
            frozenset(values.words("exclude") or values.words("blacklist")),
            frozenset(values.words("include") or values.words("whitelist")),
            dict(map(_pair, values.words("renames"))),
            values.boolean(REPLACE_NULL.name),
        )

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the struct or object with the fields that are left; a tombstone stays one."""
        schema = shape.of(self.side)
        if schema is None:
            return Step({self.side: self._object()}, failed=no_map(self.side, _PURPOSE)), shape
        parts = [
            Part(self.renames.get(part.name, part.name), part.sql, part.schema)
            for part in parts_of(self.side, schema, _PURPOSE, replace_null=self.replace_null)
            if self._keeps(part.name)
        ]
        made = shape.with_side(self.side, new_schema(schema, parts))
        return Step({self.side: new_struct_like(self.side, parts)}), made

    def _keeps(self, name: str) -> bool:
        return name not in self.exclude and (not self.include or name in self.include)

    def _object(self) -> str:
        found, kept = as_map(self.side), []
        if self.exclude:
            kept.append(f"k not in ({', '.join(map(text, sorted(self.exclude)))})")
        if self.include:
            kept.append(f"k in ({', '.join(map(text, sorted(self.include)))})")
        if kept:
            found = f"map_filter({found}, (k, v) -> {' and '.join(kept)})"
        if self.renames:
            cases = " ".join(f"when {text(a)} then {text(b)}" for a, b in self.renames.items())
            found = f"transform_keys({found}, (k, v) -> case k {cases} else k end)"
        return to_variant(found)


def _pair(text_: str) -> tuple[str, str]:
    old, _, new = text_.partition(":")
    return old, new
