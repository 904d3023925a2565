"""What registering a schema means: which version and which id it gets, or why it is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from headwater.registry.compatibility import OldVersion, check
from headwater.registry.entities import Metadata, RuleSet, SchemaReference, guid
from headwater.registry.errors import incompatible_schema, invalid_schema, not_permitted
from headwater.registry.formats import InvalidSchemaError
from headwater.registry.log_records import ContextKey, ContextValue, LogRecord
from headwater.registry.schema_source import SchemaSource, resolve_references, source_of
from headwater.registry.settings_scope import FORWARD, IMPORT, READWRITE, SettingsScope
from headwater.registry.store import StoredSchema
from headwater.registry.subjects import DEFAULT_CONTEXT, beside, context_of, context_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.registry.entities import Config, RegisterRequest
    from headwater.registry.formats import ParsedSchema
    from headwater.registry.store import SchemaStore

Noted = TypeVar("Noted", Metadata, RuleSet)

LATEST = -1
RESERVED_PROPERTY = "confluent:reserved"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schema that somebody sent."""

    subject: str
    text: str
    type: str
    references: tuple[SchemaReference, ...]
    metadata: Metadata | None
    rule_set: RuleSet | None
    version: int = 0  # 0: whatever comes next, -1: the same, but noted in the metadata
    id: int = -1  # one that an import brings along

    @classmethod
    def of(cls, subject: str, request: RegisterRequest) -> Candidate:
        """Take a request's body."""
        return cls(
            subject,
            request.schema or "",
            request.schema_type or "AVRO",
            tuple(request.references or ()),
            request.metadata,
            request.rule_set,
            request.version or 0,
            -1 if request.id is None else request.id,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no schema in it."""
        return not self.text.strip()

    def stored(self, version: int, id_: int) -> StoredSchema:
        """Return it as it would be in the store."""
        return StoredSchema(
            self.subject,
            version,
            id_,
            self.text,
            self.type,
            self.references,
            self.metadata,
            self.rule_set,
        )


class Registration(NamedTuple):
    """What came of it; records to write if there are any."""

    schema: StoredSchema
    records: list[LogRecord]


class Check(NamedTuple):
    """All that comparing a schema with earlier ones needs. No store: any thread can do it."""

    source: SchemaSource
    is_new: bool
    normalize: bool
    config: Config
    older: list[tuple[StoredSchema, SchemaSource]]

    @property
    def size(self) -> int:
        """How much there is to parse and to compare, in characters."""
        return len(self.source.text) + sum(len(stored.text) for stored, _ in self.older)

    def parse(self) -> ParsedSchema:
        """Understand the schema itself."""
        schema = self.source.parse(is_new=self.is_new)
        if self.config.validate_fields:
            try:
                schema.check_field_names()
            except InvalidSchemaError as failure:
                raise invalid_schema(f"Invalid schema, details: {failure}") from None
        return schema

    def text(self) -> str:
        """Return the text to store."""
        schema = self.parse()
        try:
            return schema.normalized() if self.normalize else schema.text
        except InvalidSchemaError as failure:
            raise invalid_schema(f"Invalid schema, details: {failure}") from None

    def messages(self, metadata: Metadata | None) -> list[str]:
        """Return why the schema may not follow the earlier ones."""
        level = self.config.compatibility_level or "NONE"
        schema = self.parse()
        messages = _reserved_fields(schema, metadata, self)
        group = self.config.compatibility_group
        older = [
            OldVersion(stored.version, stored.type, source.parse())
            for stored, source in (self.older if level != "NONE" else [])
            if group is None or _property(stored.metadata, group) == _property(metadata, group)
        ]
        lenient = self.config.compatibility_policy == "LENIENT"
        try:
            messages += check(level, schema, self.source.type, older, lenient=lenient)
        except InvalidSchemaError as failure:
            raise invalid_schema(f"Invalid schema, details: {failure}") from None
        if messages:
            fields = "true" if self.config.validate_fields else "false"
            messages.append(f"{{validateFields: '{fields}', compatibility: '{level}'}}")
        return messages


def check_register_mode(scope: SettingsScope, candidate: Candidate) -> None:
    """Refuse what the subject's mode does not allow."""
    subject, context = candidate.subject, context_prefix(candidate.subject)
    mode = scope.mode_in_scope(subject)
    if scope.is_read_only(subject):
        raise not_permitted(f"Subject {subject} in context {context} is in read-only mode")
    if candidate.id >= 0:
        if mode not in (IMPORT, FORWARD):
            raise not_permitted(f"Subject {subject} in context {context} is not in import mode")
    elif mode != READWRITE:
        raise not_permitted(f"Subject {subject} in context {context} is not in read-write mode")


def with_fixed_references(
    store: SchemaStore, candidate: Candidate, *, normalize: bool
) -> Candidate:
    """Replace references to the latest version by that version's number, and sort on demand."""
    if not candidate.references:
        return candidate
    fixed: list[SchemaReference] = []
    for each in candidate.references:
        latest = store.version(beside(each.subject, candidate.subject), each.version)
        version = each.version if latest is None else latest.version
        fixed.append(SchemaReference(each.name, each.subject, version))
    if normalize:
        fixed = sorted(dict.fromkeys(fixed), key=lambda each: (each.subject, each.version))
    return replace(candidate, references=tuple(fixed))


def populated(
    config: Config, candidate: Candidate, previous: StoredSchema | None, new_version: int | None
) -> Candidate:
    """Fill in what the settings or the previous version have and the request has not."""
    if candidate.is_empty:
        if previous is None:
            raise invalid_schema("Empty schema")
        candidate = replace(
            candidate, text=previous.text, type=previous.type, references=previous.references
        )
    metadata = candidate.metadata or (previous.metadata if previous is not None else None)
    metadata = _merged(_merged(config.default_metadata, metadata), config.override_metadata)
    rule_set = candidate.rule_set or (previous.rule_set if previous is not None else None)
    rule_set = _merged(_merged(config.default_rule_set, rule_set), config.override_rule_set)
    notes_version = candidate.version != 0 or _property(metadata, "confluent:version") is not None
    if new_version is not None and notes_version:
        metadata = (metadata or Metadata()).with_version(new_version)
    return replace(candidate, metadata=metadata, rule_set=rule_set)


def make_check(
    store: SchemaStore,
    scope: SettingsScope,
    candidate: Candidate,
    *,
    normalize: bool,
    older: list[StoredSchema],
) -> Check:
    """Collect from the store what is needed to understand and compare a schema."""
    config = scope.config_in_scope(candidate.subject)
    imports = scope.mode_in_scope(candidate.subject) in (IMPORT, FORWARD)
    references = resolve_references(store, candidate.subject, candidate.references)
    return Check(
        SchemaSource(candidate.type, candidate.text, references),
        is_new=not imports and config.validate_new_schemas is not False,
        normalize=normalize and not imports,
        config=config,
        older=[(each, source_of(store, each)) for each in older],
    )


def find_same(
    store: SchemaStore, candidate: Candidate, parsed: ParsedSchema, *, deleted: bool = False
) -> StoredSchema | None:
    """Return the subject's version that is this very schema, the newest of several."""
    wanted = guid(candidate.text, candidate.references, candidate.metadata, candidate.rule_set)
    versions = store.versions(candidate.subject, deleted=deleted)
    for stored in reversed(versions):
        if stored.guid == wanted:
            return stored
    for stored in reversed(versions):
        if _is_same(store, candidate, parsed, stored):
            return stored
    return None


def register(
    store: SchemaStore,
    scope: SettingsScope,
    candidate: Candidate,
    parsed: ParsedSchema,
    next_id: Callable[[str], int],
) -> Registration:
    """Give a checked schema its version and id; raises RegistryError where that is impossible."""
    context = context_of(candidate.subject)
    versions = store.versions(candidate.subject, deleted=True)
    new_version = versions[-1].version + 1 if versions else 1
    if candidate.version == 0:
        same = find_same(store, candidate, parsed)
        if same is not None and candidate.id in (-1, same.id):
            return Registration(same, [])
    imports = scope.mode_in_scope(candidate.subject) in (IMPORT, FORWARD)
    version = candidate.version if candidate.version > 0 else new_version
    if version != new_version and not imports:
        raise invalid_schema("Version is not one more than previous version")
    id_ = _id(store, candidate, context, next_id)
    schema = candidate.stored(version, id_)
    records: list[LogRecord] = []
    if context != DEFAULT_CONTEXT and context not in store.contexts:
        records.append(LogRecord(ContextKey(context), ContextValue(context)))
    # A deleted version of the same schema comes back under the new number.
    records += [
        LogRecord(old.key, None)
        for old in versions
        if old.deleted and old.id == id_ and old.version < version and not store.referrers(old.key)
    ]
    records.append(LogRecord(schema.key, schema.value))
    return Registration(schema, records)


def refuse_incompatible(subject: str, messages: list[str]) -> None:
    """Raise RegistryError 409 if there are messages."""
    if messages:
        raise incompatible_schema(subject, f"[{', '.join(messages)}]")


def _id(
    store: SchemaStore, candidate: Candidate, context: str, next_id: Callable[[str], int]
) -> int:
    wanted = guid(candidate.text, candidate.references, candidate.metadata, candidate.rule_set)
    if candidate.id >= 0:
        for other in store.by_id(context, candidate.id):
            if other.guid != wanted:
                raise not_permitted(
                    f"Overwrite new schema with id {candidate.id} in context "
                    f"{context_prefix(candidate.subject)} is not permitted."
                )
        return candidate.id
    known = store.id_of_guid(context, wanted)
    return next_id(context) if known is None else known


def _is_same(
    store: SchemaStore, candidate: Candidate, parsed: ParsedSchema, stored: StoredSchema
) -> bool:
    if stored.type != candidate.type:
        return False
    if not _equal_notes(candidate, stored):
        return False
    if candidate.references == stored.references:
        return candidate.text == stored.text
    if candidate.references or candidate.type != "AVRO":
        return False
    # Some clients send a schema with everything it refers to written out in it.
    whole = source_of(store, stored).parse().formatted("resolved")
    return parsed.formatted("resolved") == whole


def _equal_notes(candidate: Candidate, stored: StoredSchema) -> bool:
    return _notes(candidate.metadata) == _notes(stored.metadata) and (
        _json(candidate.rule_set) == _json(stored.rule_set)
    )


def _notes(metadata: Metadata | None) -> object:
    notes = _json(metadata)
    properties = {
        key: value
        for key, value in notes.get("properties", {}).items()
        if key != "confluent:version"
    }
    return {**notes, "properties": properties}


def _json(noted: Metadata | RuleSet | None) -> dict[str, Any]:
    return {} if noted is None else noted.to_json()


def _merged(older: Noted | None, newer: Noted | None) -> Noted | None:
    if older is None or newer is None:
        return newer if older is None else older
    return older.merged_with(newer)


def _property(metadata: Metadata | None, name: str) -> str | None:
    return None if metadata is None else (metadata.properties or {}).get(name)


def _reserved_fields(schema: ParsedSchema, metadata: Metadata | None, check: Check) -> list[str]:
    if not check.config.validate_fields:
        return []
    reserved = _reserved(metadata)
    before = _reserved(check.older[-1][0].metadata) if check.older else set()
    messages = [
        f"{{errorType:'RESERVED_FIELD_REMOVED', description:'the field {name} is no longer "
        f"reserved', remedy:'Keep it in {RESERVED_PROPERTY}'}}"
        for name in sorted(before - reserved)
    ]
    return messages + [
        f"{{errorType:'FIELD_CONFLICTS_WITH_RESERVED_FIELD', description:'the field {name} is "
        "reserved', remedy:'Use another name'}"
        for name in sorted(reserved & schema.field_names)
    ]


def _reserved(metadata: Metadata | None) -> set[str]:
    listed = _property(metadata, RESERVED_PROPERTY) or ""
    return {name.strip() for name in listed.split(",") if name.strip()}
