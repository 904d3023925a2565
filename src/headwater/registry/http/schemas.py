"""/schemas: schemas by id and guid, whatever subject they belong to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from headwater.http.answers import Answer, answer, plain
from headwater.registry.formats import FORMATS
from headwater.registry.http.parameters import id_of
from headwater.registry.http.rights import may_read
from headwater.registry.http.subjects import (
    MAX_SCHEMAS,
    qualify_references,
    schema_json,
    with_prefix,
)
from headwater.registry.subjects import beside, context_of

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService
    from headwater.registry.store import StoredSchema


async def list_schemas(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas."""
    store = service.store
    deleted, latest_only = request.flag("deleted"), request.flag("latestOnly")
    rule_type = request.text("ruleType")
    aliases = _aliases(service) if request.flag("aliases") else {}
    prefix = request.text("subjectPrefix")
    subjects = set(with_prefix(store, prefix))
    subjects |= {
        subject
        for subject, names in aliases.items()
        if any(name.startswith(prefix) for name in names)
    }
    found: list[StoredSchema] = []
    for subject in sorted(filter(partial(may_read, request), subjects)):
        versions = store.versions(subject, deleted=deleted)
        found += versions[-1:] if latest_only else versions
    if rule_type:
        found = [
            each
            for each in found
            if each.rule_set is not None
            and any(rule.type == rule_type for rule in each.rule_set.rules)
        ]
    values: list[dict[str, Any]] = []
    for schema in found[request.page(MAX_SCHEMAS)]:
        value = await schema_json(service, schema)
        if schema.subject in aliases:
            value["aliases"] = sorted(aliases[schema.subject])
        values.append(value)
    return answer(values)


async def get_schema(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/ids/{id}."""
    subject = request.text("subject") or None
    schema = service.schema_by_id(id_of(request), subject)
    value = await _schema_string(service, schema, request.text("format"))
    if subject is not None:
        value = {"subject": schema.subject, "version": schema.version, **value}
    if request.flag("fetchMaxId"):
        value["maxId"] = service.store.max_id(context_of(schema.subject))
    qualify_references(value, schema, request)
    return answer(value)


async def get_schema_text(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/ids/{id}/schema."""
    schema = service.schema_by_id(id_of(request), request.text("subject") or None)
    return plain(await service.formatted(schema, request.text("format")))


async def get_subjects(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/ids/{id}/subjects."""
    found = service.versions_of_id(
        id_of(request), request.text("subject") or None, deleted=request.flag("deleted")
    )
    names = {each.subject for each in found if may_read(request, each.subject)}
    return answer(sorted(names)[request.page()])


async def get_versions(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/ids/{id}/versions."""
    found = service.versions_of_id(
        id_of(request), request.text("subject") or None, deleted=request.flag("deleted")
    )
    pairs = sorted(
        (each.subject, each.version) for each in found if may_read(request, each.subject)
    )
    values = [{"subject": subject, "version": version} for subject, version in pairs]
    return answer(values[request.page()])


async def get_by_guid(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/guids/{guid}."""
    schema = service.schema_by_guid(request.parameters["guid"])
    return answer(await _schema_string(service, schema, request.text("format")))


async def get_ids_by_guid(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/guids/{guid}/ids."""
    found = service.ids_of_guid(request.parameters["guid"])
    return answer([{"context": each.context, "id": each.id} for each in found])


async def get_types(service: RegistryService, request: Request) -> Answer:
    """Answer GET /schemas/types."""
    return answer(sorted(FORMATS))


async def _schema_string(
    service: RegistryService, schema: StoredSchema, form: str
) -> dict[str, Any]:
    value = {**schema.details(), "deleted": schema.deleted}
    if schema.timestamp is not None:
        value["ts"] = schema.timestamp
    if form.strip():
        value["schema"] = await service.formatted(schema, form)
    return value


def _aliases(service: RegistryService) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for subject, config in service.store.configs.items():
        if subject is not None and config.alias:
            found.setdefault(beside(config.alias, subject), set()).add(subject)
    return found
