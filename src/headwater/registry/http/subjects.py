"""/subjects: registering, looking up, listing and deleting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.answers import Answer, answer, plain
from headwater.registry import changes
from headwater.registry.entities import RegisterRequest, SchemaReference
from headwater.registry.errors import RegistryError, subject_not_found
from headwater.registry.http.parameters import subject_of, version_of
from headwater.registry.http.rights import may_read
from headwater.registry.subjects import (
    ANY_CONTEXT,
    DEFAULT_CONTEXT,
    QualifiedSubject,
    beside,
)

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService
    from headwater.registry.store import SchemaStore, StoredSchema

MAX_SCHEMAS = 1000


async def list_subjects(service: RegistryService, request: Request) -> Answer:
    """Answer GET /subjects."""
    prefix = request.text("subjectPrefix", ANY_CONTEXT)
    only_deleted, deleted = _only_deleted(request), request.flag("deleted")
    names = [
        subject
        for subject in with_prefix(service.store, prefix)
        if _is_listed(service.store, subject, only_deleted, deleted) and may_read(request, subject)
    ]
    return answer(sorted(names)[request.page()])


async def look_up(service: RegistryService, request: Request) -> Answer:
    """Answer POST /subjects/{subject}."""
    subject = subject_of(request)
    found = await service.look_up(
        subject,
        request.decode(RegisterRequest),
        normalize=request.flag("normalize"),
        deleted=request.flag("deleted"),
    )
    return answer(await schema_json(service, found, request.text("format")))


async def latest_with_metadata(service: RegistryService, request: Request) -> Answer:
    """Answer GET /subjects/{subject}/metadata."""
    subject = subject_of(request)
    pairs = zip(request.query.get("key", []), request.query.get("value", []), strict=False)
    found = service.latest_with(subject, dict(pairs), deleted=request.flag("deleted"))
    return answer(await schema_json(service, found, request.text("format")))


async def delete_subject(service: RegistryService, request: Request) -> Answer:
    """Answer DELETE /subjects/{subject}."""
    subject = subject_of(request)
    permanent = request.flag("permanent")
    return answer(
        await service.write(
            lambda: changes.delete_subject(
                service.store, service.scope, subject, permanent=permanent
            )
        )
    )


async def list_versions(service: RegistryService, request: Request) -> Answer:
    """Answer GET /subjects/{subject}/versions."""
    subject = subject_of(request)
    only_deleted, deleted = _only_deleted(request), request.flag("deleted")
    if not service.store.has_subject(subject, deleted=deleted or only_deleted):
        raise subject_not_found(subject)
    versions = service.store.versions(subject, deleted=True)
    if request.flag("deletedAsNegative"):
        numbers = [-each.version if each.deleted else each.version for each in versions]
    elif only_deleted:
        numbers = [each.version for each in versions if each.deleted]
    else:
        numbers = [each.version for each in versions if deleted or not each.deleted]
    return answer(numbers[request.page()])


async def get_version(service: RegistryService, request: Request) -> Answer:
    """Answer GET /subjects/{subject}/versions/{version}."""
    found = service.version(
        subject_of(request), version_of(request), deleted=request.flag("deleted")
    )
    value = await schema_json(service, found, request.text("format"))
    qualify_references(value, found, request)
    return answer(value)


async def get_version_text(service: RegistryService, request: Request) -> Answer:
    """Answer GET /subjects/{subject}/versions/{version}/schema."""
    found = service.version(
        subject_of(request), version_of(request), deleted=request.flag("deleted")
    )
    return plain(await service.formatted(found, request.text("format")))


async def get_referrers(service: RegistryService, request: Request) -> Answer:
    """Answer GET /subjects/{subject}/versions/{version}/referencedby."""
    found = service.version(subject_of(request), version_of(request), deleted=True)
    referrers = changes.live_referrers(service.store, found.key, deleted=request.flag("deleted"))
    return answer([each.id for each in referrers][request.page(MAX_SCHEMAS)])


async def prepare_registration(service: RegistryService, request: Request) -> Answer | None:
    """Answer POST /subjects/{subject}/versions if there is nothing to write, or prepare it."""
    subject = subject_of(request)
    body = request.decode(RegisterRequest)
    flags = {"normalize": request.flag("normalize"), "force": request.flag("force")}
    try:
        found = await service.already_registered(subject, body, normalize=flags["normalize"])
        if found is not None:
            return answer(await registered_json(service, found, body, request.text("format")))
        if service.writer.should_lead:
            # Parsing and comparing take their time, and others want to write meanwhile.
            request.prepared = await service.evaluate(subject, body, **flags)
    except RegistryError as failure:
        # What it refers to may be known to the leader already, and here not yet.
        if service.writer.should_lead or failure.code != 42201:
            raise
    return None


async def register(service: RegistryService, request: Request) -> Answer:
    """Answer POST /subjects/{subject}/versions, as the leader."""
    subject = subject_of(request)
    body = request.decode(RegisterRequest)
    flags = {"normalize": request.flag("normalize"), "force": request.flag("force")}
    evaluation = request.prepared or await service.evaluate(subject, body, **flags)
    schema = await service.register(subject, body, evaluation, **flags)
    return answer(await registered_json(service, schema, body, request.text("format")))


async def delete_version(service: RegistryService, request: Request) -> Answer:
    """Answer DELETE /subjects/{subject}/versions/{version}."""
    subject, version = subject_of(request), version_of(request)
    permanent = request.flag("permanent")
    return answer(
        await service.write(
            lambda: changes.delete_version(
                service.store, service.scope, subject, version, permanent=permanent
            )
        )
    )


def with_prefix(store: SchemaStore, prefix: str) -> list[str]:
    """Return the subjects whose names start with a prefix, `:*:` being any context."""
    if not prefix.startswith(ANY_CONTEXT):
        return [subject for subject in store.subjects if subject.startswith(prefix)]
    rest = prefix.removeprefix(ANY_CONTEXT)
    return [
        subject
        for subject in store.subjects
        if QualifiedSubject.parse(subject).subject.startswith(rest)
    ]


async def schema_json(
    service: RegistryService, schema: StoredSchema, form: str = ""
) -> dict[str, Any]:
    """Return a version as clients see it."""
    value = {
        "subject": schema.subject,
        "version": schema.version,
        "id": schema.id,
        **schema.details(),
        "deleted": schema.deleted,
    }
    if schema.timestamp is not None:
        value["ts"] = schema.timestamp
    if form.strip():
        value["schema"] = await service.formatted(schema, form)
    return value


async def registered_json(
    service: RegistryService, schema: StoredSchema, body: RegisterRequest, form: str
) -> dict[str, Any]:
    """Return what a client gets to know when it registered a schema."""
    value = {"id": schema.id, "version": schema.version, **schema.details()}
    if form.strip():
        value["schema"] = await service.formatted(schema, form)
    elif schema.type == "PROTOBUF" and body.schema != schema.text:
        # A client that sends descriptors keeps what it gets here, and cannot read .proto files.
        del value["schema"]
    return value


def qualify_references(value: dict[str, Any], schema: StoredSchema, request: Request) -> None:
    """Write references with their contexts, for clients that ask for it."""
    if request.text("referenceFormat") != "qualified" or not schema.references:
        return
    if QualifiedSubject.parse(schema.subject).context != DEFAULT_CONTEXT:
        value["references"] = [
            SchemaReference(each.name, beside(each.subject, schema.subject), each.version).to_json()
            for each in schema.references
        ]


def _only_deleted(request: Request) -> bool:
    # The second spelling is that of Confluent's Python client.
    return request.flag("deletedOnly") or request.flag("deleted_only")


def _is_listed(store: SchemaStore, subject: str, only_deleted: bool, deleted: bool) -> bool:
    is_live = bool(store.versions(subject))
    return not is_live if only_deleted else is_live or deleted
