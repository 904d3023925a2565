"""The records of `_schemas`: Confluent's keys and values, byte for byte.

The bytes of a key matter: compaction keeps the last record of each key, and takes two spellings of
one key for two keys.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import msgspec

from headwater.registry.entities import Config, Metadata, RuleSet, SchemaReference
from headwater.topic_state.errors import InvalidRecordError


class SchemaKey(NamedTuple):
    """A version of a subject."""

    subject: str
    version: int


class ConfigKey(NamedTuple):
    """The settings of a subject, or of everything."""

    subject: str | None


class ModeKey(NamedTuple):
    """The mode of a subject, or of everything."""

    subject: str | None


class DeleteSubjectKey(NamedTuple):
    """A subject's deletion, up to a version."""

    subject: str


class ClearSubjectKey(NamedTuple):
    """The end of what was deleted, before an import."""

    subject: str | None


class ContextKey(NamedTuple):
    """A context."""

    context: str


class NoopKey(NamedTuple):
    """Nothing; written to see that writing works."""


class UnknownKey(NamedTuple):
    """A key of a kind that newer registries write and that says nothing to us."""

    kind: str


Key: TypeAlias = (
    SchemaKey
    | ConfigKey
    | ModeKey
    | DeleteSubjectKey
    | ClearSubjectKey
    | ContextKey
    | NoopKey
    | UnknownKey
)


class SchemaValue(msgspec.Struct, frozen=True, rename="camel"):
    """A schema under a subject and version."""

    subject: str
    version: int
    id: int
    schema: str
    schema_type: str | None = None
    references: list[SchemaReference] | None = None
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    deleted: bool = False


class ConfigValue(Config, frozen=True, rename="camel"):
    """Settings."""


class ModeValue(msgspec.Struct, frozen=True):
    """A mode."""

    mode: str


class DeleteSubjectValue(msgspec.Struct, frozen=True):
    """Up to which version a subject was deleted."""

    subject: str
    version: int


class ClearSubjectValue(msgspec.Struct, frozen=True):
    """Whose deleted versions are gone for good."""

    subject: str | None = None


class ContextValue(msgspec.Struct, frozen=True):
    """A context."""

    context: str
    tenant: str = "default"


Value: TypeAlias = (
    SchemaValue | Config | ModeValue | DeleteSubjectValue | ClearSubjectValue | ContextValue
)


class LogRecord(NamedTuple):
    """A key with its value; no value deletes what the key stood for."""

    key: Key
    value: Value | None


def encode(record: LogRecord) -> tuple[bytes, bytes | None]:
    """Return the bytes of a key and of its value."""
    key, value = record
    return encode_key(key), encode_value(key, value)


def encode_key(key: Key) -> bytes:
    """Return the bytes of a key."""
    match key:
        case SchemaKey(subject, version):
            parts = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
        case ConfigKey(subject):
            parts = _subject_key("CONFIG", subject)
        case ModeKey(subject):
            parts = _subject_key("MODE", subject)
        case DeleteSubjectKey(subject):
            parts = _subject_key("DELETE_SUBJECT", subject)
        case ClearSubjectKey(subject):
            parts = _subject_key("CLEAR_SUBJECT", subject)
        case ContextKey(context):
            parts = {"keytype": "CONTEXT", "tenant": "default", "context": context, "magic": 0}
        case NoopKey():
            parts = {"keytype": "NOOP", "magic": 0}
        case UnknownKey(kind):
            raise AssertionError(f"a key of kind {kind} is never written")
    return msgspec.json.encode(parts)


def encode_value(key: Key, value: Value | None) -> bytes | None:
    """Return the bytes of a value; None for a tombstone."""
    if value is None:
        return None
    parts: dict[str, Any]
    match value:
        case SchemaValue():
            parts = {
                "subject": value.subject,
                "version": value.version,
                "id": value.id,
                "schemaType": value.schema_type or "AVRO",
                "references": [each.to_json() for each in value.references or ()],
                "metadata": None if value.metadata is None else value.metadata.to_json(),
                "ruleSet": None if value.rule_set is None else value.rule_set.to_json(),
                "schema": value.schema,
                "deleted": value.deleted,
            }
            parts = {name: part for name, part in parts.items() if part or name == "deleted"}
        case Config():
            subject = key.subject if isinstance(key, ConfigKey) else None
            parts = {"subject": subject} if subject else {}
            parts |= value.to_json()
        case ModeValue():
            subject = key.subject if isinstance(key, ModeKey) else None
            parts = {"subject": subject} if subject else {}
            parts["mode"] = value.mode
        case DeleteSubjectValue():
            parts = {"subject": value.subject, "version": value.version}
        case ClearSubjectValue():
            parts = {"subject": value.subject} if value.subject else {}
        case ContextValue():
            parts = {"tenant": value.tenant, "context": value.context}
    return msgspec.json.encode(parts)


def decode(key: bytes | None, value: bytes | None) -> LogRecord:
    """Understand a record of the topic; raises InvalidRecordError."""
    if key is None:
        raise InvalidRecordError("it has no key")
    try:
        decoded_key = _decode_key(_KEY.decode(key))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as failure:
        raise InvalidRecordError(f"its key is malformed: {failure}") from None
    kind = _VALUES.get(type(decoded_key))
    if value is None or kind is None:
        return LogRecord(decoded_key, None)
    try:
        decoded = kind.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as failure:
        raise InvalidRecordError(f"its value is malformed: {failure}") from None
    if isinstance(decoded_key, SchemaKey) and decoded.version < 1:
        raise InvalidRecordError(f"its version is {decoded.version}")
    return LogRecord(decoded_key, decoded)


class _RawKey(msgspec.Struct):
    keytype: str
    subject: str | None = None
    version: int | None = None
    context: str | None = None
    magic: int = 0


_KEY = msgspec.json.Decoder(_RawKey)
_VALUES: dict[type, msgspec.json.Decoder[Any]] = {
    SchemaKey: msgspec.json.Decoder(SchemaValue),
    ConfigKey: msgspec.json.Decoder(ConfigValue),
    ModeKey: msgspec.json.Decoder(ModeValue),
    DeleteSubjectKey: msgspec.json.Decoder(DeleteSubjectValue),
    ClearSubjectKey: msgspec.json.Decoder(ClearSubjectValue),
    ContextKey: msgspec.json.Decoder(ContextValue),
}


def _subject_key(kind: str, subject: str | None) -> dict[str, Any]:
    parts: dict[str, Any] = {"keytype": kind}
    if subject:
        parts["subject"] = subject
    return parts | {"magic": 0}


def _decode_key(raw: _RawKey) -> Key:
    match raw.keytype:
        case "SCHEMA":
            if raw.subject is None or raw.version is None:
                raise InvalidRecordError("its key lacks a subject or a version")
            if raw.magic not in (0, 1):
                raise InvalidRecordError(f"its key has the unknown magic {raw.magic}")
            return SchemaKey(raw.subject, raw.version)
        case "CONFIG":
            return ConfigKey(raw.subject or None)
        case "MODE":
            return ModeKey(raw.subject or None)
        case "DELETE_SUBJECT":
            return DeleteSubjectKey(raw.subject or "")
        case "CLEAR_SUBJECT":
            return ClearSubjectKey(raw.subject or None)
        case "CONTEXT":
            return ContextKey(raw.context or "")
        case "NOOP":
            return NoopKey()
        case kind:
            return UnknownKey(kind)
