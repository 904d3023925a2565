"""The settings of converters that know a schema registry, under Confluent's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from headwater.clients import RegistryAccess
from headwater.config import ConfigDef, ConfigType, Definitions, Importance, Values
from headwater.serde import RegistryError, Schema, SchemaRegistryClient
from headwater.serde.framing import ID_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from headwater.serde.schema import SchemaType

REGISTRY_SETTINGS = Definitions(
    "converter",
    ConfigDef(
        "schema.registry.url",
        ConfigType.LIST,
        None,
        "The registry's addresses.",
        importance=Importance.HIGH,
        required=True,
    ),
    ConfigDef(
        "auto.register.schemas",
        ConfigType.BOOLEAN,
        True,
        "Whether schemas are registered; if not, they must be there.",
    ),
    ConfigDef(
        "use.latest.version",
        ConfigType.BOOLEAN,
        False,
        "Whether to write with the latest schema of the subject; without auto.register.schemas.",
    ),
    ConfigDef("normalize.schemas", ConfigType.BOOLEAN, False, "Whether to normalise schemas."),
    open_prefixes=("",),
)
_CLIENT = ("schema.registry.", "basic.auth.", "bearer.auth.")


@dataclass(frozen=True)
class Subjects:
    """A topic's schemas in the registry, under the name of the topic and the side."""

    registry: SchemaRegistryClient
    side: str
    registers: bool
    uses_latest: bool
    normalizes: bool

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Take Confluent's settings; raises ConfigError without an address."""
        missing = REGISTRY_SETTINGS.missing(config)
        if missing:
            raise missing[0]
        values = Values(REGISTRY_SETTINGS, config)
        client = {name: text for name, text in config.items() if name.startswith(_CLIENT)}
        return cls(
            SchemaRegistryClient(RegistryAccess.of(client)),
            "key" if is_key else "value",
            values.boolean("auto.register.schemas"),
            values.boolean("use.latest.version"),
            values.boolean("normalize.schemas"),
        )

    def subject(self, topic: str) -> str:
        """Return the subject, as TopicNameStrategy names it."""
        return f"{topic}-{self.side}"

    def to_write(self, topic: str, schema: Schema) -> tuple[int, Schema]:
        """Return the schema to write a topic's records with, and its id."""
        subject = self.subject(topic)
        if self.uses_latest and not self.registers:
            latest = self.registry.get_latest_version(subject)
            return latest.id, latest.schema
        if self.registers:
            return self.registry.register_schema(subject, schema, normalize=self.normalizes), schema
        return self.registry.lookup_schema(subject, schema, normalize=self.normalizes).id, schema

    def writers(self, frame: DataFrame, column: str, kind: SchemaType) -> dict[int, Schema | None]:
        """Look which schemas the records of a batch are written with; None for an unknown one."""
        from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

        number = F.conv(F.hex(frame[column].substr(2, ID_SIZE - 1)), 16, 10).cast("int")
        ids = frame.where(F.length(frame[column]) >= ID_SIZE).agg(F.collect_set(number)).first()
        return {id_: self._schema(id_, kind) for id_ in sorted(ids[0] if ids else [])}

    def _schema(self, id_: int, kind: SchemaType) -> Schema | None:
        try:
            found = self.registry.get_schema(id_)
        except RegistryError as refusal:
            if refusal.error_code != _SCHEMA_NOT_FOUND:
                raise
            return None
        return found if found.type == kind else None


_SCHEMA_NOT_FOUND = 40403
