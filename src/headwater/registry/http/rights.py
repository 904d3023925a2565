"""Which right each route of the registry asks for, where there are rules.

Subjects are read, written (schemas registered) and administered (deleted, their settings changed).
Schemas by id and guid may be read by who may read a subject that has them. Lists have what may be
read, and what is global takes the right to all subjects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.errors import forbidden
from headwater.http.rights import ALL_NAMES, Operation, ResourceType
from headwater.registry.entities import RegisterRequest
from headwater.registry.http.parameters import id_of, subject_of
from headwater.registry.subjects import beside

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.http.routes import RegistryRoute
    from headwater.registry.service import RegistryService

_SUBJECT = "{subject}"


def may_read(request: Request, subject: str) -> bool:
    """Whether a client may see a subject, for lists that leave out the others."""
    return request.may(Operation.READ, ResourceType.SUBJECT, subject)


def authorize(service: RegistryService, route: RegistryRoute, request: Request) -> None:
    """Raise HttpError 403 unless the client may have what it asks for."""
    segments = route.segments
    if "{id}" in segments or "{guid}" in segments:
        _require_any(request, _subjects_of(service, request))
        return
    if _SUBJECT not in segments:
        if route.writes:
            request.require(Operation.ADMIN, ResourceType.SUBJECT, ALL_NAMES)
        return
    subject = subject_of(request)
    request.require(_operation(route), ResourceType.SUBJECT, subject)
    if route.body == "RegisterRequest" and request.body.strip():
        for reference in request.decode(RegisterRequest).references or ():
            name = beside(reference.subject, subject)
            request.require(Operation.READ, ResourceType.SUBJECT, name)


def _operation(route: RegistryRoute) -> Operation:
    if not route.writes:
        return Operation.READ
    return Operation.WRITE if route.method == "POST" else Operation.ADMIN


def _subjects_of(service: RegistryService, request: Request) -> set[str]:
    if "id" in request.parameters:
        found = service.versions_of_id(
            id_of(request), request.text("subject") or None, deleted=True
        )
        return {each.subject for each in found}
    return {
        each.subject
        for context, id_ in service.ids_of_guid(request.parameters["guid"])
        for each in service.store.by_id(context, id_)
    }


def _require_any(request: Request, subjects: set[str]) -> None:
    if subjects and not any(may_read(request, subject) for subject in subjects):
        raise forbidden(f"{request.principal} may read no subject that has this schema")
