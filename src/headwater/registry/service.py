"""The registry's operations: what the HTTP interface asks for, on top of store and writer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from uuid import UUID

from headwater.registry.errors import (
    RegistryError,
    invalid_rule_set,
    invalid_schema,
    invalid_subject,
    not_permitted,
    schema_not_found,
    subject_not_found,
    version_not_found,
)
from headwater.registry.heavy_work import HeavyWork
from headwater.registry.log_records import encode
from headwater.registry.registration import (
    LATEST,
    Candidate,
    Check,
    check_register_mode,
    find_same,
    make_check,
    populated,
    refuse_incompatible,
    register,
    with_fixed_references,
)
from headwater.registry.schema_ids import SchemaIds
from headwater.registry.schema_source import find_version, source_of
from headwater.registry.settings_scope import FORWARD, IMPORT
from headwater.registry.store import ContextId
from headwater.registry.subjects import (
    DEFAULT_CONTEXT,
    QualifiedSubject,
    is_valid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.registry.entities import RegisterRequest
    from headwater.registry.log_records import LogRecord
    from headwater.registry.settings_scope import SettingsScope
    from headwater.registry.store import SchemaStore, StoredSchema
    from headwater.topic_state.writer import Writer

Result = TypeVar("Result")


class Evaluation(NamedTuple):
    """What is known about a registration before it is made."""

    check: Check
    candidate: Candidate
    text: str
    messages: list[str]


class RegistryService:
    """What can be asked of the registry, whoever asks."""

    def __init__(
        self,
        store: SchemaStore,
        scope: SettingsScope,
        writer: Writer,
        *,
        group: str,
        read_only: bool = False,
        modes_can_change: bool = True,
    ) -> None:
        self.store = store
        self.scope = scope
        self.writer = writer
        self._ids = SchemaIds(store)
        self._heavy_work = HeavyWork()
        self.group = group
        self.cluster_id = ""
        self.read_only = read_only
        self.modes_can_change = modes_can_change

    # --- schemas by id

    def schema_by_id(self, id_: int, subject: str | None) -> StoredSchema:
        """Return a schema; the subject tells which context an id belongs to."""
        found = self._find_id(id_, subject)
        if not found:
            raise schema_not_found(id_)
        return found[0]

    def versions_of_id(self, id_: int, subject: str | None, *, deleted: bool) -> list[StoredSchema]:
        """Return the subjects and versions that have a schema."""
        found = self._find_id(id_, subject)
        if not found:
            raise schema_not_found()
        context = QualifiedSubject.parse(found[0].subject).context
        same = self.store.by_id(context, found[0].id)
        return [each for each in same if deleted or not each.deleted]

    def schema_by_guid(self, text: str) -> StoredSchema:
        """Return a schema by the id that it has everywhere."""
        for context, id_ in self.ids_of_guid(text):
            found = self.store.by_id(context, id_)
            if found:
                return found[0]
        raise schema_not_found(text)

    def ids_of_guid(self, text: str) -> list[ContextId]:
        """Return the ids that a schema has in the contexts it is in."""
        try:
            wanted = UUID(text)
        except ValueError:
            return []
        contexts = [DEFAULT_CONTEXT, *sorted(self.store.contexts)]
        ids = [(context, self.store.id_of_guid(context, wanted)) for context in contexts]
        return sorted(ContextId(context, id_) for context, id_ in ids if id_ is not None)

    # --- subjects

    def version(self, subject: str, version: int, *, deleted: bool = False) -> StoredSchema:
        """Return a version of a subject."""
        found = find_version(self.store, subject, version, deleted=deleted)
        if found is None:
            if not self.store.has_subject(subject, deleted=deleted):
                raise subject_not_found(subject)
            raise version_not_found(version)
        return found

    def latest_with(
        self, subject: str, properties: dict[str, str], *, deleted: bool
    ) -> StoredSchema:
        """Return the newest version that has all these properties in its metadata."""
        for schema in reversed(self.store.versions(subject, deleted=deleted)):
            if schema.metadata is not None:
                own = schema.metadata.properties or {}
                if properties.items() <= own.items():
                    return schema
        if not self.store.has_subject(subject, deleted=deleted):
            raise subject_not_found(subject)
        raise schema_not_found()

    async def formatted(self, schema: StoredSchema, form: str) -> str:
        """Return a schema's text in another form."""
        if not form.strip():
            return schema.text
        source = source_of(self.store, schema)
        return await self._heavy_work.run(len(schema.text), lambda: source.parse().formatted(form))

    async def look_up(
        self, subject: str, request: RegisterRequest, *, normalize: bool, deleted: bool
    ) -> StoredSchema:
        """Return the version of a subject that is this schema."""
        name = QualifiedSubject.parse(subject)
        names = [subject]
        if name.context == DEFAULT_CONTEXT:
            contexts = sorted(self.store.contexts)
            names += [str(QualifiedSubject(context, name.subject)) for context in contexts]
        for each in names:
            try:
                found = await self._look_up(each, request, normalize, deleted)
            except RegistryError:
                if each == subject:
                    raise
                continue  # what it refers to need not be there in every context
            if found is not None:
                return found
        if not self.store.has_subject(subject, deleted=deleted):
            raise subject_not_found(subject)
        raise schema_not_found()

    async def compatibility(
        self, subject: str, request: RegisterRequest, version: int | None, *, normalize: bool
    ) -> list[str]:
        """Return why a schema may not follow one version, or all of them; nothing if it may."""
        older = self.store.versions(subject)
        if version is not None:
            only = self.store.version(subject, version)
            if only is None and version != LATEST:
                raise version_not_found(version)
            older = [] if only is None else [only]
        candidate = Candidate.of(subject, request)
        if candidate.is_empty:
            raise invalid_schema("Empty schema")
        normalize = self._normalizes(subject, normalize)
        candidate = with_fixed_references(self.store, candidate, normalize=normalize)
        check = make_check(self.store, self.scope, candidate, normalize=normalize, older=older)
        return await self._heavy_work.run(check.size, lambda: check.messages(candidate.metadata))

    # --- registering

    async def already_registered(
        self, subject: str, request: RegisterRequest, *, normalize: bool
    ) -> StoredSchema | None:
        """Return the schema if it is there already, which any instance can tell."""
        self._check_register(subject, request)
        config = self.scope.config_in_scope(subject)
        if config.changes_schemas or request.version not in (None, 0):
            return None
        found = await self._look_up(subject, request, normalize, False, as_next=True)
        if found is not None and request.id in (None, -1, found.id):
            return found
        return None

    async def evaluate(
        self, subject: str, request: RegisterRequest, *, normalize: bool, force: bool
    ) -> Evaluation:
        """Do all that can be done about a registration without leading: parse and compare."""
        candidate, check = self._prepare(subject, request, normalize)
        checks = self._is_checked(subject, force)
        text, messages = await self._heavy_work.run(
            check.size, lambda: _evaluate(check, candidate, checks)
        )
        return Evaluation(check, candidate, text, messages)

    async def register(
        self,
        subject: str,
        request: RegisterRequest,
        evaluation: Evaluation,
        *,
        normalize: bool,
        force: bool,
    ) -> StoredSchema:
        """Register a schema; only while leading."""
        self._refuse_writes()
        candidate, check = self._prepare(subject, request, normalize)
        check_register_mode(self.scope, candidate)
        if (candidate, check) != (evaluation.candidate, evaluation.check):
            evaluation = await self.evaluate(subject, request, normalize=normalize, force=force)
        candidate = replace(candidate, text=evaluation.text)
        parsed = check.parse()
        if candidate.version == 0:
            same = find_same(self.store, candidate, parsed)
            if same is not None and candidate.id in (-1, same.id):
                return same
        refuse_incompatible(subject, evaluation.messages)
        schema, records = register(self.store, self.scope, candidate, parsed, self._ids.next)
        await self.writer.write([encode(each) for each in records])
        return self.store.version(schema.subject, schema.version) or schema

    async def write(self, change: Callable[[], tuple[list[LogRecord], Result]]) -> Result:
        """Make any other change; only while leading."""
        self._refuse_writes()
        records, result = change()
        await self.writer.write([encode(each) for each in records])
        return result

    def _check_register(self, subject: str, request: RegisterRequest) -> None:
        if not is_valid(subject):
            raise invalid_subject(subject)
        if request.rule_set is not None:
            complaint = request.rule_set.complaint()
            if complaint is not None:
                raise invalid_rule_set(complaint)

    def _prepare(
        self, subject: str, request: RegisterRequest, normalize: bool
    ) -> tuple[Candidate, Check]:
        versions = self.store.versions(subject, deleted=True)
        live = [each for each in versions if not each.deleted]
        normalize = self._normalizes(subject, normalize)
        candidate = with_fixed_references(
            self.store, Candidate.of(subject, request), normalize=normalize
        )
        if self.scope.mode_in_scope(subject) not in (IMPORT, FORWARD):
            config = self.scope.config_in_scope(subject)
            new_version = versions[-1].version + 1 if versions else 1
            candidate = populated(config, candidate, live[-1] if live else None, new_version)
        elif candidate.is_empty:
            raise invalid_schema("Empty schema")
        check = make_check(self.store, self.scope, candidate, normalize=normalize, older=live)
        return candidate, check

    async def _look_up(
        self,
        subject: str,
        request: RegisterRequest,
        normalize: bool,
        deleted: bool,
        *,
        as_next: bool = False,
    ) -> StoredSchema | None:
        normalize = self._normalizes(subject, normalize)
        candidate = with_fixed_references(
            self.store, Candidate.of(subject, request), normalize=normalize
        )
        if candidate.is_empty:
            return None
        latest = self.store.version(subject, LATEST)
        check = make_check(self.store, self.scope, candidate, normalize=normalize, older=[])
        check = check._replace(is_new=False)  # who asks is told, however old the schema is
        text = await self._heavy_work.run(len(candidate.text), check.text)
        candidate = replace(candidate, text=text)
        parsed = check.parse()
        tries = [candidate]
        if latest is not None:
            config = self.scope.config_in_scope(subject)
            filled = populated(config, candidate, latest, None)
            tries = [filled] if as_next else [candidate, filled]
        for each in tries:
            found = find_same(self.store, each, parsed, deleted=deleted)
            if found is not None:
                return found
        return None

    def _find_id(self, id_: int, subject: str | None) -> list[StoredSchema]:
        name = QualifiedSubject.parse(subject or "")
        found = self.store.by_id(name.context, id_)
        if not name.subject:
            return _live_first(found)
        own = [each for each in found if each.subject == subject]
        if own or name.context != DEFAULT_CONTEXT:
            return _live_first(own)
        for context in sorted(self.store.contexts):
            qualified = str(QualifiedSubject(context, name.subject))
            others = [each for each in self.store.by_id(context, id_) if each.subject == qualified]
            if others:
                return _live_first(others)
        return _live_first(found)

    def _normalizes(self, subject: str, normalize: bool) -> bool:
        return normalize or self.scope.config_in_scope(subject).normalize is True

    def _is_checked(self, subject: str, force: bool) -> bool:
        return not force and self.scope.mode_in_scope(subject) not in (IMPORT, FORWARD)

    def _refuse_writes(self) -> None:
        if self.read_only:
            raise not_permitted("This registry is read-only")


def _evaluate(check: Check, candidate: Candidate, checks: bool) -> tuple[str, list[str]]:
    return check.text(), check.messages(candidate.metadata) if checks else []


def _live_first(schemas: list[StoredSchema]) -> list[StoredSchema]:
    return sorted(schemas, key=lambda schema: schema.deleted)
