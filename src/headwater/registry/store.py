"""The image of `_schemas` in memory: what the records read so far add up to."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.registry.entities import Config, Metadata, RuleSet, SchemaReference, guid
from headwater.registry.log_records import (
    ClearSubjectKey,
    ConfigKey,
    ContextKey,
    ContextValue,
    DeleteSubjectKey,
    DeleteSubjectValue,
    LogRecord,
    ModeKey,
    ModeValue,
    SchemaKey,
    SchemaValue,
)
from headwater.registry.subjects import beside, context_of, is_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from headwater.registry.log_records import Key

logger = logging.getLogger("headwater.registry")


@dataclass(frozen=True)
class StoredSchema:
    """A version of a subject as it is in the topic."""

    subject: str
    version: int
    id: int
    text: str
    type: str
    references: tuple[SchemaReference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    deleted: bool = False
    timestamp: int | None = None
    epoch: int = 0  # of the leader that wrote it

    @cached_property
    def guid(self) -> UUID:
        """The id that the schema has everywhere."""
        return guid(self.text, self.references, self.metadata, self.rule_set)

    @property
    def key(self) -> SchemaKey:
        """Its key in the topic."""
        return SchemaKey(self.subject, self.version)

    @property
    def value(self) -> SchemaValue:
        """Its value in the topic."""
        return SchemaValue(
            self.subject,
            self.version,
            self.id,
            self.text,
            self.type,
            list(self.references) or None,
            self.metadata,
            self.rule_set,
            self.deleted,
        )

    def details(self) -> dict[str, Any]:
        """Return what every answer about a schema ends with."""
        parts: dict[str, Any] = {"guid": str(self.guid), "schemaType": self.type}
        if self.references:
            parts["references"] = [each.to_json() for each in self.references]
        if self.metadata is not None:
            parts["metadata"] = self.metadata.to_json()
        if self.rule_set is not None:
            parts["ruleSet"] = self.rule_set.to_json()
        parts["schema"] = self.text
        return parts


class ContextId(NamedTuple):
    """An id and the context that it is an id in."""

    context: str
    id: int


@dataclass(slots=True)
class _Context:
    """What is kept for each context: ids and hashes mean something in one context only."""

    by_id: dict[int, dict[tuple[str, int], StoredSchema]] = field(default_factory=dict)
    id_by_guid: dict[UUID, int] = field(default_factory=dict)
    max_id: int = 0


class SchemaStore:
    """All subjects, settings and modes. Records come in through `apply`, in the topic's order."""

    def __init__(self) -> None:
        self.subjects: dict[str, dict[int, StoredSchema]] = {}
        self.configs: dict[str | None, Config] = {}
        self.modes: dict[str | None, str] = {}
        self.contexts: set[str] = set()
        self._contexts: dict[str, _Context] = {}
        self._referrers: dict[SchemaKey, set[ContextId]] = {}

    def apply(self, record: LogRecord, *, timestamp: int | None = None, epoch: int = 0) -> None:
        """Take in one record."""
        key, value = record
        match key, value:
            case SchemaKey(), None:
                self._remove(key)
            case SchemaKey(), SchemaValue():
                self._put(_stored(key, value, timestamp, epoch))
            case ConfigKey(subject), _:
                _set(self.configs, subject, value)
            case ModeKey(subject), _:
                _set(self.modes, subject, value.mode if isinstance(value, ModeValue) else None)
            case DeleteSubjectKey(subject), DeleteSubjectValue():
                self._mark_deleted(subject, value.version)
            case ClearSubjectKey(subject), _ if value is not None:
                self._clear(subject)
            case ContextKey(context), _:
                if value is None:
                    self.contexts.discard(context)
                else:
                    self.contexts.add(context)
            case _:
                return

    def restoring(self, key: Key) -> list[LogRecord]:
        """Return records that bring about what a key stands for, whatever was written since."""
        match key:
            case SchemaKey(subject, version):
                stored = self.subjects.get(subject, {}).get(version)
                return [LogRecord(key, None if stored is None else stored.value)]
            case ConfigKey(subject):
                return [LogRecord(key, self.configs.get(subject))]
            case ModeKey(subject):
                mode = self.modes.get(subject)
                return [LogRecord(key, None if mode is None else ModeValue(mode))]
            case ContextKey(context):
                known = context in self.contexts
                return [LogRecord(key, ContextValue(context) if known else None)]
            case DeleteSubjectKey(subject):
                return [
                    LogRecord(schema.key, schema.value)
                    for schema in self.versions(subject, deleted=True)
                ]
            case _:
                return []

    def versions(self, subject: str, *, deleted: bool = False) -> list[StoredSchema]:
        """Return a subject's versions, oldest first, the deleted ones on demand."""
        found = sorted(self.subjects.get(subject, {}).items())
        return [each for _, each in found if deleted or not each.deleted]

    def version(self, subject: str, version: int, *, deleted: bool = False) -> StoredSchema | None:
        """Return one version; -1 is the latest one that is not deleted."""
        if version == -1:
            versions = self.versions(subject)
            return versions[-1] if versions else None
        found = self.subjects.get(subject, {}).get(version)
        return found if found is not None and (deleted or not found.deleted) else None

    def has_subject(self, where: str | None, *, deleted: bool = False) -> bool:
        """Return whether there are schemas under a subject or in a context."""
        if where is not None and where in self.subjects:
            return bool(self.versions(where, deleted=deleted))
        return any(self.subjects_in(where, deleted=deleted))

    def subjects_in(self, where: str | None, *, deleted: bool = False) -> Iterator[str]:
        """Return the subjects that a name means, which may be that of a context."""
        for subject in self.subjects:
            if is_in(subject, where) and self.versions(subject, deleted=deleted):
                yield subject

    def by_id(self, context: str, id_: int) -> list[StoredSchema]:
        """Return all versions of all subjects that have this id in a context."""
        found = self._contexts.get(context)
        return list(found.by_id.get(id_, {}).values()) if found is not None else []

    def id_of_guid(self, context: str, wanted: UUID) -> int | None:
        """Return the id of a schema in a context."""
        found = self._contexts.get(context)
        if found is None:
            return None
        id_ = found.id_by_guid.get(wanted)
        return id_ if id_ is not None and id_ in found.by_id else None

    def max_id(self, context: str) -> int:
        """Return the largest id that was ever given in a context, 0 for none."""
        found = self._contexts.get(context)
        return found.max_id if found is not None else 0

    def max_ids(self) -> dict[str, int]:
        """Return the largest id of each context."""
        return {context: each.max_id for context, each in self._contexts.items()}

    def note_max_ids(self, ids: dict[str, int]) -> None:
        """Take in ids that were given, also if nothing else is left of what they were given to."""
        for context, id_ in ids.items():
            known = self._contexts.setdefault(context, _Context())
            known.max_id = max(known.max_id, id_)

    def referrers(self, key: SchemaKey) -> set[ContextId]:
        """Return the ids of the schemas that refer to a version, deleted ones included."""
        return self._referrers.get(key, set())

    @property
    def schemas(self) -> Iterator[StoredSchema]:
        """Every version of every subject."""
        for versions in self.subjects.values():
            yield from versions.values()

    def _put(self, schema: StoredSchema) -> None:
        context = self._contexts.setdefault(context_of(schema.subject), _Context())
        for other in list(context.by_id.get(schema.id, {}).values()):
            if other.text == schema.text or other.key == schema.key:
                continue
            if other.epoch >= schema.epoch:
                logger.error(
                    "subject %s version %s is ignored: its id %s is already that of subject %s",
                    schema.subject, schema.version, schema.id, other.subject,
                )  # fmt: skip
                return
            self._remove(other.key)  # a leader that had been replaced wrote it
        self._remove(schema.key)
        self.subjects.setdefault(schema.subject, {})[schema.version] = schema
        context.by_id.setdefault(schema.id, {})[schema.key] = schema
        context.id_by_guid[schema.guid] = schema.id
        context.max_id = max(context.max_id, schema.id)
        referrer = ContextId(context_of(schema.subject), schema.id)
        for key in _referred(schema):
            self._referrers.setdefault(key, set()).add(referrer)

    def _remove(self, key: SchemaKey) -> None:
        versions = self.subjects.get(key.subject, {})
        schema = versions.pop(key.version, None)
        if schema is None:
            return
        if not versions:
            del self.subjects[key.subject]
        context = self._contexts[context_of(key.subject)]
        same = context.by_id[schema.id]
        del same[key]
        if not same:
            del context.by_id[schema.id]
            referrer = ContextId(context_of(key.subject), schema.id)
            for referred in _referred(schema):
                self._referrers.get(referred, set()).discard(referrer)

    def _mark_deleted(self, subject: str, up_to: int) -> None:
        for schema in self.versions(subject):
            if schema.version <= up_to:
                self._replace(replace(schema, deleted=True))

    def _clear(self, where: str | None) -> None:
        for subject in list(self.subjects):
            if is_in(subject, where):
                for schema in self.versions(subject, deleted=True):
                    if schema.deleted:
                        self._remove(schema.key)

    def _replace(self, schema: StoredSchema) -> None:
        self.subjects[schema.subject][schema.version] = schema
        self._contexts[context_of(schema.subject)].by_id[schema.id][schema.key] = schema


def _stored(key: SchemaKey, value: SchemaValue, timestamp: int | None, epoch: int) -> StoredSchema:
    return StoredSchema(
        key.subject,
        key.version,
        value.id,
        value.schema,
        value.schema_type or "AVRO",
        tuple(value.references or ()),
        value.metadata,
        value.rule_set,
        value.deleted,
        timestamp,
        epoch,
    )


def _referred(schema: StoredSchema) -> list[SchemaKey]:
    return [
        SchemaKey(beside(each.subject, schema.subject), each.version) for each in schema.references
    ]


def _set(target: dict[str | None, Any], subject: str | None, value: Any) -> None:
    if value is None:
        target.pop(subject, None)
    else:
        target[subject] = value
