"""What deleting, and changing settings and modes, means: the records to write for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from headwater.registry.entities import Config, ConfigUpdate, RuleSet
from headwater.registry.errors import (
    RegistryError,
    context_not_empty,
    invalid_compatibility_level,
    invalid_mode,
    invalid_rule_set,
    not_permitted,
    reference_exists,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from headwater.registry.log_records import (
    ClearSubjectKey,
    ClearSubjectValue,
    ConfigKey,
    ContextKey,
    DeleteSubjectKey,
    DeleteSubjectValue,
    LogRecord,
    ModeKey,
    ModeValue,
)
from headwater.registry.settings_scope import (
    FORWARD,
    IMPORT,
    LEVELS,
    MODES,
    POLICIES,
    SettingsScope,
)
from headwater.registry.subjects import (
    GLOBAL_CONTEXT,
    QualifiedSubject,
    context_of,
    context_prefix,
    is_context,
)

if TYPE_CHECKING:
    from headwater.registry.log_records import SchemaKey
    from headwater.registry.store import ContextId, SchemaStore, StoredSchema

Result = TypeVar("Result")


class Change(NamedTuple, Generic[Result]):
    """Records to write, and what the client is told when they are written."""

    records: list[LogRecord]
    result: Result


def delete_subject(
    store: SchemaStore, scope: SettingsScope, subject: str, *, permanent: bool
) -> Change[list[int]]:
    """Delete a subject; permanently only what was deleted before."""
    if not store.versions(subject, deleted=True):  # a whole context is no subject
        raise subject_not_found(subject)
    if not permanent and not store.has_subject(subject):
        raise subject_soft_deleted(subject)
    _refuse_read_only(scope, subject)
    versions = store.versions(subject, deleted=permanent)
    for schema in versions:
        _refuse_referred(store, schema, permanent=permanent, except_subject=subject)
        if permanent and not schema.deleted:
            raise subject_not_soft_deleted(subject)
    numbers = [schema.version for schema in versions]
    if not permanent:
        value = DeleteSubjectValue(subject, numbers[-1])
        return Change([LogRecord(DeleteSubjectKey(subject), value)], numbers)
    # Newest first: versions may refer to older ones, and half of it must still make sense.
    records = [LogRecord(schema.key, None) for schema in reversed(versions)]
    return Change(records + _without_settings(store, subject), numbers)


def delete_version(
    store: SchemaStore, scope: SettingsScope, subject: str, version: int, *, permanent: bool
) -> Change[int]:
    """Delete one version; permanently only what was deleted before."""
    schema = store.version(subject, version, deleted=True)
    if schema is None:
        if not store.has_subject(subject, deleted=True):
            raise subject_not_found(subject)
        raise version_not_found(version)
    if schema.deleted and not permanent:
        raise version_soft_deleted(subject, schema.version)
    _refuse_read_only(scope, subject)
    _refuse_referred(store, schema, permanent=permanent)
    if not permanent:
        value = schema.value
        deleted = type(value)(
            value.subject,
            value.version,
            value.id,
            value.schema,
            value.schema_type,
            value.references,
            value.metadata,
            value.rule_set,
            deleted=True,
        )
        return Change([LogRecord(schema.key, deleted)], schema.version)
    if not schema.deleted:
        raise version_not_soft_deleted(subject, schema.version)
    records = [LogRecord(schema.key, None)]
    if len(store.versions(subject, deleted=True)) == 1:
        records += _without_settings(store, subject)
    return Change(records, schema.version)


def delete_context(store: SchemaStore, context: str) -> Change[None]:
    """Delete a context that has nothing in it."""
    if store.has_subject(context, deleted=True):
        raise context_not_empty(context)
    return Change([LogRecord(ContextKey(context_of(context)), None)], None)


def check_config(update: ConfigUpdate) -> ConfigUpdate:
    """Refuse settings that cannot be; returns them as they are stored."""
    level, policy = update.compatibility_level, update.compatibility_policy
    if isinstance(level, str):
        if level.upper() not in LEVELS:
            raise invalid_compatibility_level()
        update.compatibility_level = level.upper()
    if isinstance(policy, str):
        if policy.upper() not in POLICIES:
            raise RegistryError(
                422, 42203, f"Invalid compatibility policy. Valid values are {', '.join(POLICIES)}"
            )
        update.compatibility_policy = policy.upper()
    for rules in (update.default_rule_set, update.override_rule_set):
        if isinstance(rules, RuleSet) and (complaint := rules.complaint()) is not None:
            raise invalid_rule_set(complaint)
    return update


def update_config(
    store: SchemaStore, scope: SettingsScope, subject: str | None, update: ConfigUpdate
) -> Change[Config]:
    """Change settings."""
    _refuse_read_only(scope, subject)
    config = update.applied_to(store.configs.get(subject, Config()))
    return Change([LogRecord(ConfigKey(subject), config)], config)


def delete_config(scope: SettingsScope, subject: str | None) -> Change[Config]:
    """Take settings away; the result is what they were."""
    config = scope.config(subject)
    if config is None:
        raise subject_not_found(subject or "")
    _refuse_read_only(scope, subject)
    return Change([LogRecord(ConfigKey(subject), None)], config)


def check_mode(mode: str | None, subject: str | None) -> str | None:
    """Refuse a mode that cannot be; returns it as it is stored."""
    if mode is None:
        return None
    mode = mode.upper()
    if mode not in MODES:
        raise invalid_mode()
    is_global = subject is None or QualifiedSubject.parse(subject) == (GLOBAL_CONTEXT, "")
    if mode == FORWARD and not is_global:
        raise invalid_mode("Forward mode only supported on global level")
    return mode


def set_mode(
    store: SchemaStore, scope: SettingsScope, subject: str | None, mode: str | None, *, force: bool
) -> Change[None]:
    """Set a mode. Importing starts from nothing, unless it is forced."""
    records: list[LogRecord] = []
    if mode == IMPORT and scope.mode_in_scope(subject) != IMPORT and not force:
        if store.has_subject(subject):
            raise not_permitted("Cannot import since found existing subjects")
        for name in list(store.subjects_in(subject, deleted=True)):
            for schema in store.versions(name, deleted=True):
                if store.referrers(schema.key):
                    raise reference_exists(schema.subject, schema.version)
                records.append(LogRecord(schema.key, None))
        records.append(LogRecord(ClearSubjectKey(subject), ClearSubjectValue(subject)))
    value = None if mode is None else ModeValue(mode)
    return Change([*records, LogRecord(ModeKey(subject), value)], None)


def delete_mode(
    store: SchemaStore, scope: SettingsScope, subject: str | None, *, recursive: bool
) -> Change[str | None]:
    """Take a mode away, on demand also those of all subjects in a context."""
    mode = scope.mode(subject)
    if mode is None and not recursive:
        raise subject_not_found(subject or "")
    records = [LogRecord(ModeKey(subject), None)]
    if recursive and is_context(subject):
        prefix = context_prefix(subject)
        records += [
            LogRecord(ModeKey(name), None)
            for name in sorted(filter(None, store.modes))
            if name != subject and context_prefix(name) == prefix
        ]
    return Change(records, mode)


def live_referrers(store: SchemaStore, key: SchemaKey, *, deleted: bool) -> list[ContextId]:
    """Return the ids of the schemas that refer to a version."""
    return sorted(
        each
        for each in store.referrers(key)
        if any(deleted or not schema.deleted for schema in store.by_id(each.context, each.id))
    )


def _refuse_referred(
    store: SchemaStore, schema: StoredSchema, *, permanent: bool, except_subject: str | None = None
) -> None:
    for context, id_ in store.referrers(schema.key):
        for referrer in store.by_id(context, id_):
            if referrer.subject != except_subject and (permanent or not referrer.deleted):
                raise reference_exists(schema.subject, schema.version)


def _refuse_read_only(scope: SettingsScope, subject: str | None) -> None:
    if scope.is_read_only(subject):
        raise not_permitted(
            f"Subject {subject} in context {context_prefix(subject)} is in read-only mode"
        )


def _without_settings(store: SchemaStore, subject: str) -> list[LogRecord]:
    records: list[LogRecord] = []
    if subject in store.modes:
        records.append(LogRecord(ModeKey(subject), None))
    if subject in store.configs:
        records.append(LogRecord(ConfigKey(subject), None))
    return records
