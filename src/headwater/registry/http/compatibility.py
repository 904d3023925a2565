"""/compatibility: would a schema be accepted?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.answers import Answer, answer
from headwater.registry.entities import RegisterRequest
from headwater.registry.errors import RegistryError
from headwater.registry.http.parameters import subject_of, version_of

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService


async def check_one(service: RegistryService, request: Request) -> Answer:
    """Answer POST /compatibility/subjects/{subject}/versions/{version}."""
    return await _check(service, request, version_of(request))


async def check_all(service: RegistryService, request: Request) -> Answer:
    """Answer POST /compatibility/subjects/{subject}/versions."""
    return await _check(service, request, None)


async def _check(service: RegistryService, request: Request, version: int | None) -> Answer:
    verbose = request.flag("verbose")
    try:
        messages = await service.compatibility(
            subject_of(request),
            request.decode(RegisterRequest),
            version,
            normalize=request.flag("normalize"),
        )
    except RegistryError as failure:
        # Who asks for the reasons wants this one as well.
        if not verbose or failure.code != 42201:
            raise
        messages = [failure.message]
    if verbose:
        return answer({"is_compatible": not messages, "messages": messages})
    return answer({"is_compatible": not messages})
