"""Serialisers with schemas from a registry: which schema to write with, and its id in front."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypedDict

from headwater.serde.context import as_context
from headwater.serde.framing import id_prefix
from headwater.serde.serializer import Serializer, Value
from headwater.serde.subject_names import strategy_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.codec import Codec
    from headwater.serde.context import Context, ContextLike
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema, SchemaType
    from headwater.serde.subject_names import StrategyLike


class SerializerSettings(TypedDict, total=False):
    """The settings that all serialisers with a registry have, see RegistrySerializer."""

    to_dict: Callable[[Any, Context], Any] | None
    auto_register_schemas: bool | None
    normalize_schemas: bool
    use_latest_version: bool
    use_schema_id: int | None
    subject_name_strategy: StrategyLike


class RegistrySerializer(Serializer[Value]):
    """The base of the serialisers for Avro, JSON Schema and Protobuf.

    By default the schema is registered under the subject when the first value is written.
    `auto_register_schemas=False` only looks it up, and fails if it is not there.
    `use_latest_version=True` writes with the subject's latest version, whatever that is;
    `use_schema_id` writes with one schema by its id. `to_dict(value, context)` turns objects into
    what the format takes. It can be pickled, so that Spark's workers can be given it.
    """

    schema_type: ClassVar[SchemaType]

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: Schema | None,
        *,
        to_dict: Callable[[Any, Context], Any] | None = None,
        auto_register_schemas: bool | None = None,
        normalize_schemas: bool = False,
        use_latest_version: bool = False,
        use_schema_id: int | None = None,
        subject_name_strategy: StrategyLike = "topic",
    ) -> None:
        takes_existing = use_latest_version or use_schema_id is not None
        if takes_existing and auto_register_schemas:
            raise ValueError("use_latest_version and use_schema_id register nothing; give either")
        if schema is None and not takes_existing:
            raise ValueError("give a schema, or use_latest_version, or use_schema_id")
        self._registry = registry
        self._schema = schema
        self._to_dict = to_dict
        self._auto_register = not takes_existing and auto_register_schemas is not False
        self._normalize = normalize_schemas
        self._use_latest_version = use_latest_version
        self._use_schema_id = use_schema_id
        self._subject_name = strategy_of(subject_name_strategy)
        self._forget()

    def _forget(self) -> None:
        self._codecs: dict[Schema, Codec] = {}
        self._writers: dict[tuple[str | None, str], RegisteredWriter] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_codecs": None, "_writers": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @abstractmethod
    def _parse(self, schema: Schema) -> Codec:
        """Parse a schema; raises SchemaError where it is none."""

    def _register(self, subject: str, schema: Schema) -> int:
        """Return the id of the serialiser's own schema under a subject."""
        if self._auto_register:
            return self._registry.register_schema(subject, schema, normalize=self._normalize)
        return self._registry.lookup_schema(subject, schema, normalize=self._normalize).id

    def _codec(self, schema: Schema) -> Codec:
        codec = self._codecs.get(schema)
        if codec is None:
            codec = self._codecs[schema] = self._parse(schema)
        return codec

    def written_with(self, context: ContextLike = None) -> RegisteredWriter:
        """Return the schema that values of a topic are written with, registered where need be."""
        return self._writer(as_context(context))

    def _encoder(self, context: Context) -> Callable[[Any], bytes]:
        writer = self._writer(context)
        prefix, encode = id_prefix(writer.id), self._codec(writer.schema).encode
        to_dict = self._to_dict
        if to_dict is None:
            return lambda value: prefix + encode(value)
        return lambda value: prefix + encode(to_dict(value, context))

    def _writer(self, context: Context) -> RegisteredWriter:
        if self._use_latest_version:
            # The client keeps the answer for a while; whoever asks it again gets the newer one.
            latest = self._registry.get_latest_version(self._subject(context))
            return RegisteredWriter(latest.id, latest.schema)
        key = (context.topic, context.field)
        writer = self._writers.get(key)
        if writer is None:
            writer = self._writers[key] = self._new_writer(context)
        return writer

    def _new_writer(self, context: Context) -> RegisteredWriter:
        if self._use_schema_id is not None:
            return RegisteredWriter(
                self._use_schema_id, self._registry.get_schema(self._use_schema_id)
            )
        assert self._schema is not None, "the constructor insists on it"
        return RegisteredWriter(self._register(self._subject(context), self._schema), self._schema)

    def _subject(self, context: Context) -> str:
        record = None if self._schema is None else self._codec(self._schema).record_name
        return self._subject_name(context, record)


class RegisteredWriter(NamedTuple):
    """A schema to write with, and the id that stands in front of what it wrote."""

    id: int
    schema: Schema
