"""Deserialisers with schemas from a registry: find the writer's schema, read with the reader's."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

from headwater.serde.errors import RegistryError
from headwater.serde.framing import ID_SIZE, MAGIC_ID, read_schema_ref, schema_header
from headwater.serde.serializer import Deserializer, Value
from headwater.serde.subject_names import strategy_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.codec import Codec
    from headwater.serde.context import Context
    from headwater.serde.framing import SchemaRef
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema, SchemaType
    from headwater.serde.subject_names import StrategyLike


class DeserializerSettings(TypedDict, total=False):
    """The settings that all deserialisers with a registry have, see RegistryDeserializer."""

    from_dict: Callable[[Any, Context], Any] | None
    use_latest_version: bool
    subject_name_strategy: StrategyLike


class RegistryDeserializer(Deserializer[Value]):
    """The base of the deserialisers for Avro, JSON Schema and Protobuf.

    Each payload names the schema it was written with. A `schema` of one's own, or the subject's
    latest with `use_latest_version=True`, is the one to read it with: a reader that is newer or
    older than the writer gets its own fields. `from_dict(value, context)` makes objects of what
    the format gives.
    """

    schema_type: ClassVar[SchemaType]

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: Schema | None = None,
        *,
        from_dict: Callable[[Any, Context], Any] | None = None,
        use_latest_version: bool = False,
        subject_name_strategy: StrategyLike = "topic",
    ) -> None:
        if schema is not None and use_latest_version:
            raise ValueError("give either the schema to read with or use_latest_version")
        self._registry = registry
        self._schema = schema
        self._from_dict = from_dict
        self._use_latest_version = use_latest_version
        self._subject_name = strategy_of(subject_name_strategy)
        self._forget()

    def _forget(self) -> None:
        self._codecs: dict[Schema, Codec] = {}
        self._decoders: dict[object, Callable[[bytes, int], Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_codecs": None, "_decoders": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @abstractmethod
    def _parse(self, schema: Schema) -> Codec:
        """Parse a schema; raises SchemaError where it is none."""

    def _codec(self, schema: Schema) -> Codec:
        codec = self._codecs.get(schema)
        if codec is None:
            codec = self._codecs[schema] = self._parse(schema)
        return codec

    def _reader(self, writer: Codec, context: Context) -> Codec | None:
        """Return what to read with, or None for the writer's own schema."""
        if self._use_latest_version:
            subject = self._subject_name(context, writer.record_name)
            return self._codec(self._registry.get_latest_version(subject).schema)
        return None if self._schema is None else self._codec(self._schema)

    def _decode(self, data: bytes, context: Context) -> Any:
        header = schema_header(context) if context.headers else None
        if header is not None:
            # What else belongs to the frame, Protobuf's indexes, stands in the header as well.
            ref = read_schema_ref(header)
            value = self._decoder(ref, context)(header[ref.end :] + data, 0)
        else:
            # The way of nearly all payloads: an id that was seen before, and a reader that stays.
            decode = self._decoders.get(data[:ID_SIZE])
            if decode is not None:
                value = decode(data, ID_SIZE)
            else:
                ref = read_schema_ref(data)
                decode = self._decoder(ref, context)
                if data[0] == MAGIC_ID and not self._use_latest_version:
                    self._decoders[data[:ID_SIZE]] = decode
                value = decode(data, ref.end)
        return value if self._from_dict is None else self._from_dict(value, context)

    def _decoder(self, ref: SchemaRef, context: Context) -> Callable[[bytes, int], Any]:
        writer = self._codec(writer_schema(self._registry, ref, self.schema_type))
        reader = self._reader(writer, context)
        key = (writer, reader)
        decode = self._decoders.get(key)
        if decode is None:
            decode = self._decoders[key] = writer.decoder(reader)
        return decode


def writer_schema(registry: SchemaRegistryClient, ref: SchemaRef, wanted: SchemaType) -> Schema:
    """Return the schema that a payload names; raises ValueError where it is none of its format."""
    try:
        if ref.guid is not None:
            schema = registry.get_schema_by_guid(ref.guid)
        else:
            assert ref.id is not None, "a reference has one of the two"
            schema = registry.get_schema(ref.id)
    except RegistryError as refusal:
        if refusal.status != 404:
            raise
        name = f"GUID {ref.guid}" if ref.guid is not None else f"id {ref.id}"
        raise ValueError(
            f"it was written with the schema of {name}, which {refusal.url} does not know"
        ) from refusal
    if schema.type != wanted:
        raise ValueError(f"it was written with a schema of type {schema.type}, not {wanted}")
    return schema
