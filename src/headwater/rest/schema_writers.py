"""Serialisers for the schemas that clients name: by text, by id, by version, or the latest one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.serde import (
    AvroJsonSerializer,
    JsonSchemaSerializer,
    ProtobufSerializer,
    Schema,
)
from headwater.serde.context import Context
from headwater.serde.subject_names import strategy_of

if TYPE_CHECKING:
    from headwater.serde import SchemaRegistryClient
    from headwater.serde.context import Field
    from headwater.serde.registry_serializer import RegistrySerializer
    from headwater.serde.schema import SchemaType
    from headwater.serde.subject_names import StrategyLike

# Parsed schemas are kept for those that write again and again; the least used one goes first.
_KEPT = 1000


@dataclass(frozen=True, slots=True)
class WantedSchema:
    """The schema that a request names; with nothing, it is the latest of its subject."""

    topic: str
    field: Field
    type: SchemaType | None = None
    text: str | None = None
    id: int | None = None
    version: int | None = None
    subject: str | None = None
    strategy: StrategyLike = "topic"


class SchemaWriter(NamedTuple):
    """What writes values with one schema."""

    serializer: RegistrySerializer[Any]
    context: Context
    type: SchemaType
    id: int

    def encode(self, value: Any) -> bytes | None:
        """Return a value's bytes, with the schema's id in front."""
        return self.serializer(value, self.context)


class SchemaWriters:
    """Finds the writer of a schema; asks the registry, and so is called in threads."""

    def __init__(self, registry: SchemaRegistryClient) -> None:
        self._registry = registry
        self._lock = threading.Lock()
        self._kept: OrderedDict[WantedSchema, SchemaWriter] = OrderedDict()

    def writer(self, wanted: WantedSchema) -> SchemaWriter:
        """Return what writes with this schema; registers one that is given by its text."""
        if wanted.text is None and wanted.id is None and wanted.version is None:
            latest = self._registry.get_latest_version(self.subject(wanted))
            return self._by_id(wanted, latest.id)
        with self._lock:
            kept = self._kept.get(wanted)
            if kept is not None:
                self._kept.move_to_end(wanted)
                return kept
        found = self._find(wanted)
        with self._lock:
            self._kept[wanted] = found
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def subject(self, wanted: WantedSchema) -> str:
        """Return the subject that a schema belongs to, where its own name does not matter."""
        context = Context(wanted.topic, wanted.field)
        return wanted.subject or strategy_of(wanted.strategy)(context, None)

    def version(self, subject: str, writer: SchemaWriter) -> int:
        """Return the version that a writer's schema has under a subject."""
        schema = writer.serializer.written_with(writer.context).schema
        return self._registry.lookup_schema(subject, schema, deleted=True).version

    def _find(self, wanted: WantedSchema) -> SchemaWriter:
        if wanted.text is not None:
            assert wanted.type is not None, "a text says nothing of its type"
            return self._by_text(wanted, Schema(wanted.text, wanted.type))
        if wanted.id is not None:
            return self._by_id(wanted, wanted.id)
        assert wanted.version is not None, "one of the three is given"
        found = self._registry.get_version(self.subject(wanted), wanted.version)
        return self._by_id(wanted, found.id)

    def _by_text(self, wanted: WantedSchema, schema: Schema) -> SchemaWriter:
        subject = wanted.subject
        strategy = wanted.strategy if subject is None else lambda *_: subject
        serializer = _SERIALIZERS[schema.type](
            self._registry, schema, subject_name_strategy=strategy
        )
        context = Context(wanted.topic, wanted.field)
        return SchemaWriter(serializer, context, schema.type, serializer.written_with(context).id)

    def _by_id(self, wanted: WantedSchema, id_: int) -> SchemaWriter:
        by_id = WantedSchema(wanted.topic, wanted.field, id=id_)
        with self._lock:
            kept = self._kept.get(by_id)
        if kept is not None:
            return kept
        type_ = self._registry.get_schema(id_).type
        serializer = _SERIALIZERS[type_](self._registry, None, use_schema_id=id_)
        writer = SchemaWriter(serializer, Context(wanted.topic, wanted.field), type_, id_)
        with self._lock:
            self._kept[by_id] = writer
        return writer


_SERIALIZERS: dict[SchemaType, Any] = {
    "AVRO": AvroJsonSerializer,
    "JSON": JsonSchemaSerializer,
    "PROTOBUF": ProtobufSerializer,
}
