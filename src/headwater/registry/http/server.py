"""/, /contexts and /v1/metadata: the server itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater import __version__
from headwater.http.answers import Answer, answer
from headwater.http.errors import bad_request
from headwater.registry import changes
from headwater.registry.subjects import DEFAULT_CONTEXT, normalize_context

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService


async def root(service: RegistryService, request: Request) -> Answer:
    """Answer GET and POST /: the server is there."""
    return answer({})


async def list_contexts(service: RegistryService, request: Request) -> Answer:
    """Answer GET /contexts."""
    prefix = request.text("contextPrefix")
    contexts = [DEFAULT_CONTEXT, *sorted(service.store.contexts)]
    return answer([each for each in contexts if each.startswith(prefix)][request.page()])


async def delete_context(service: RegistryService, request: Request) -> Answer:
    """Answer DELETE /contexts/{context}."""
    try:
        prefix = normalize_context(request.parameters["context"])
    except ValueError as failure:
        raise bad_request(str(failure)) from None
    await service.write(lambda: changes.delete_context(service.store, prefix))
    return Answer(b"", 204)


async def get_cluster_id(service: RegistryService, request: Request) -> Answer:
    """Answer GET /v1/metadata/id."""
    clusters = {"kafka-cluster": service.cluster_id, "schema-registry-cluster": service.group}
    return answer({"scope": {"path": [], "clusters": clusters}})


async def get_server_version(service: RegistryService, request: Request) -> Answer:
    """Answer GET /v1/metadata/version."""
    return answer({"version": __version__, "commitId": "headwater"})


async def get_deployment(service: RegistryService, request: Request) -> Answer:
    """Answer GET /v1/metadata/deployment."""
    return answer({"attributes": []})
