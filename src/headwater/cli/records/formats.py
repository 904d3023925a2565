"""Keys and values in a format: what is typed becomes bytes, bytes become what is printed."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.registry import registry_options
from headwater.cli.output import note
from headwater.cli.records.input import InputError
from headwater.cli.records.schema_files import named_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import Message

    from headwater.serde import Deserializer, SchemaRegistryClient, Serializer
    from headwater.serde.context import Field

FORMATS = ("string", "long", "double", "bytes", "json", "avro", "protobuf", "jsonschema")
_SCHEMA_TYPES = {"avro": "AVRO", "protobuf": "PROTOBUF", "jsonschema": "JSON"}


@dataclass(frozen=True)
class RecordFormats:
    """The formats that a user chose for keys and values; None leaves the bytes as they are."""

    registry: SchemaRegistryClient
    key_format: str | None = None
    value_format: str | None = None
    key_schema: str | None = None
    value_schema: str | None = None

    def encoder(self, topic: str, field: Field) -> RecordEncoder | None:
        """Return what encodes the keys or the values of a topic, if a format was chosen."""
        kind, schema = self._chosen(field)
        return None if kind is None else RecordEncoder(self.registry, kind, schema, topic, field)

    def decoder(self, field: Field) -> RecordDecoder | None:
        """Return what decodes keys or values, if a format was chosen."""
        kind, schema = self._chosen(field)
        return None if kind is None else RecordDecoder(self.registry, kind, schema, field)

    def _chosen(self, field: Field) -> tuple[str | None, str | None]:
        if field == "key":
            return self.key_format, self.key_schema
        return self.value_format, self.value_schema


class RecordEncoder:
    """Encodes keys or values from the text of a line, or from a JSON value."""

    def __init__(
        self,
        registry: SchemaRegistryClient,
        kind: str,
        schema: str | None,
        topic: str,
        field: Field,
    ) -> None:
        from headwater.serde import Context

        self._kind = kind
        self._context = Context(topic, field)
        self._serializer = _serializer(registry, kind, schema)

    def from_text(self, text: bytes | None) -> bytes | None:
        """Return the bytes for what was typed; raises InputError."""
        if text is None or self._kind == "bytes":
            return text
        try:
            typed = text.decode()
            match self._kind:
                case "string":
                    return self._encode(typed)
                case "long":
                    return self._encode(int(typed))
                case "double":
                    return self._encode(float(typed))
            value = json.loads(typed)
        except ValueError as failure:
            raise InputError(f"{self._name}: {failure}") from None
        # Plain JSON is sent as it was typed: nobody asked for other blanks and digits.
        return text if self._kind == "json" else self._encode(value)

    def from_json(self, value: Any) -> bytes | None:
        """Return the bytes for a JSON value; a text counts as typed where numbers are wanted."""
        if value is None:
            return None
        if self._kind in ("string", "bytes") and not isinstance(value, str):
            value = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        if self._kind == "bytes" or (self._kind in ("long", "double") and isinstance(value, str)):
            return self.from_text(value.encode("utf-8", "surrogatepass"))
        if self._kind == "double" and isinstance(value, int):
            value = float(value)
        return self._encode(value)

    @property
    def _name(self) -> str:
        return f"the {self._context.field} as {self._kind}"

    def _encode(self, value: Any) -> bytes | None:
        from headwater.serde import SerializationError

        try:
            return self._serializer(value, self._context)
        except SerializationError as failure:
            raise InputError(
                f"{self._name}: {str(failure).removeprefix(f'{self._context}: ')}"
            ) from None


class RecordDecoder:
    """Decodes keys or values to a text that can be printed, or to a JSON value."""

    def __init__(
        self, registry: SchemaRegistryClient, kind: str, schema: str | None, field: Field
    ) -> None:
        self._kind = kind
        self._deserializer = _deserializer(registry, kind, schema)
        self._decode = self._deserializer.key_of if field == "key" else self._deserializer.value_of

    def to_json(self, message: Message) -> Any:
        """Return a message's key or value as JSON; raises DeserializationError."""
        return self._decode(message)

    def to_text(self, message: Message) -> bytes | None:
        """Return a message's key or value as text on one line; raises DeserializationError."""
        value = self._decode(message)
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, str) and self._kind == "string":
            return value.encode("utf-8", "surrogatepass")
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )


class DecodedMessage:
    """A message with its key and value as they are printed; the rest is the message's own."""

    def __init__(
        self, message: Message, key: RecordDecoder | None, value: RecordDecoder | None
    ) -> None:
        self._message = message
        self._key = message.key() if key is None else key.to_text(message)
        self._value = message.value() if value is None else value.to_text(message)

    def key(self) -> bytes | None:
        """Return the key as text."""
        return self._key

    def value(self) -> bytes | None:
        """Return the value as text."""
        return self._value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._message, name)


def decoding(
    to_bytes: Callable[[Message], bytes], formats: RecordFormats
) -> Callable[[Message], bytes]:
    """Let a formatter print keys and values that are decoded first."""
    key, value = formats.decoder("key"), formats.decoder("value")
    if key is None and value is None:
        return to_bytes
    return lambda message: to_bytes(DecodedMessage(message, key, value))


def decoding_json(
    to_line: Callable[[Message, dict[str, object]], bytes], formats: RecordFormats
) -> Callable[[Message], bytes]:
    """Let a formatter of JSON lines show keys and values that are decoded as JSON."""
    decoders = {
        name: decoder
        for name, decoder in (("key", formats.decoder("key")), ("value", formats.decoder("value")))
        if decoder is not None
    }
    return lambda message: to_line(
        message, {name: decoder.to_json(message) for name, decoder in decoders.items()}
    )


def skipping_malformed(to_bytes: Callable[[Message], bytes]) -> Callable[[Message], bytes]:
    """Let a formatter report what cannot be decoded, instead of failing."""
    from headwater.serde import DeserializationError

    def write(message: Message) -> bytes:
        try:
            return to_bytes(message)
        except DeserializationError as failure:
            note(f"Skipped: {failure}")
            return b""

    return write


def format_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --key-format, --value-format and the registry, handed over as `formats`."""

    @click.option("--key-format", type=click.Choice(FORMATS), help="Default: bytes as they are.")
    @click.option("--value-format", type=click.Choice(FORMATS), help="Default: bytes as they are.")
    @registry_options
    @functools.wraps(command)
    def with_formats(
        *args: Any,
        key_format: str | None,
        value_format: str | None,
        registry: SchemaRegistryClient,
        key_schema: str | None = None,
        value_schema: str | None = None,
        **kwargs: Any,
    ) -> Any:
        from headwater.serde import DeserializationError

        for option, kind, schema in (
            ("key", key_format, key_schema),
            ("value", value_format, value_schema),
        ):
            if schema is not None and kind not in _SCHEMA_TYPES:
                raise click.UsageError(
                    f"--{option}-schema needs --{option}-format {', '.join(_SCHEMA_TYPES)}."
                )
        formats = RecordFormats(registry, key_format, value_format, key_schema, value_schema)
        try:
            return command(*args, formats=formats, **kwargs)
        except DeserializationError as failure:
            raise CommandError(str(failure)) from None

    return with_formats


def writer_schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --key-schema and --value-schema, which format_options takes over."""
    help_ = "Schema to register and to write {field}s with.  [default: the subject's latest]"
    return _schema_options(command, help_)


def reader_schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --key-schema and --value-schema to read with, for format_options."""
    return _schema_options(command, "Schema to read {field}s with (Avro).  [default: the writer's]")


def _schema_options(command: Callable[..., Any], help_: str) -> Callable[..., Any]:
    for field in ("value", "key"):
        command = click.option(
            f"--{field}-schema",
            metavar="FILE|@SUBJECT[:VERSION]",
            help=help_.format(field=field),
        )(command)
    return command


def _serializer(registry: SchemaRegistryClient, kind: str, schema: str | None) -> Serializer[Any]:
    from headwater import serde

    match kind:
        case "string":
            return serde.StringSerializer()
        case "long":
            return serde.LongSerializer()
        case "double":
            return serde.DoubleSerializer()
        case "bytes":
            return serde.BytesSerializer()
        case "json":
            return serde.JsonSerializer()
    known = None if schema is None else named_schema(registry, schema, _SCHEMA_TYPES[kind])
    use_latest = known is None
    match kind:
        case "avro":
            return serde.AvroJsonSerializer(registry, known, use_latest_version=use_latest)
        case "protobuf":
            return serde.ProtobufSerializer(registry, known, use_latest_version=use_latest)
        case _:
            return serde.JsonSchemaSerializer(registry, known, use_latest_version=use_latest)


def _deserializer(
    registry: SchemaRegistryClient, kind: str, schema: str | None
) -> Deserializer[Any]:
    from headwater import serde

    if schema is not None and kind != "avro":
        raise click.UsageError(f"A schema to read with is for avro, and not for {kind}.")
    match kind:
        case "string":
            return serde.StringDeserializer()
        case "long":
            return serde.LongDeserializer()
        case "double":
            return serde.DoubleDeserializer()
        case "bytes":
            return serde.BytesDeserializer()
        case "json":
            return serde.JsonDeserializer()
        case "avro":
            reader = None if schema is None else named_schema(registry, schema, "AVRO")
            return serde.AvroJsonDeserializer(registry, reader)
        case "protobuf":
            return serde.ProtobufJsonDeserializer(registry)
        case _:
            return serde.JsonSchemaDeserializer(registry)
