"""SetSchemaMetadata: the name and the version of a schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self, cast

from headwater.config import ConfigDef, ConfigError, ConfigType, Importance
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.settings import REPLACE_NULL, settings, side_of, sided
from headwater.connect.transforms.transform import Step, TransformError

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class SetSchemaMetadata:
    """Gives a schema another name, another version, or both."""

    side: str
    name: str | None
    version: int | None

    class_names: ClassVar[tuple[str, ...]] = sided("SetSchemaMetadata")
    doc: ClassVar[str] = "Sets the name, the version or both of the schema of the key or value."
    definitions: ClassVar[Definitions] = settings(
        ConfigDef(
            "schema.name", ConfigType.STRING, None, "The schema's name.", importance=Importance.HIGH
        ),
        ConfigDef(
            "schema.version", ConfigType.INT, None, "Its version.", importance=Importance.HIGH
        ),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the name and the version, one of which there is."""
        name, version = values.text("schema.name"), cast("int | None", values["schema.version"])
        if name is None and version is None:
            reason = "Neither schema name nor version configured: give schema.name, schema.version"
            raise ConfigError("schema.name", None, reason)
        return cls(side_of(class_name), name, version)

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the records as they are, under another schema."""
        schema = shape.of(self.side)
        if schema is None:
            message = text("Schema required for [updating schema metadata]")
            return Step(failed=f"if({self.side} is null, null, {message})"), shape
        renamed = replace(
            schema,
            name=schema.name if self.name is None else self.name,
            version=schema.version if self.version is None else self.version,
        )
        if renamed.logical != schema.logical:
            raise TransformError(
                f"values of schema {schema.name or schema.type.value} are not what "
                f"{renamed.name} says; TimestampConverter and Cast convert them"
            )
        return Step(), shape.with_side(self.side, renamed)
