"""Paths below /contexts, and aliases of subjects: what a request's path stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.errors import bad_request
from headwater.registry.subjects import ANY_CONTEXT, beside, normalize, normalize_context

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService


def enter_context(request: Request) -> None:
    """Rewrite /contexts/{context}/... to the same path with names in that context."""
    segments = request.segments
    if len(segments) < 3 or segments[0] != "contexts":
        return
    try:
        prefix = normalize_context(segments[1])
    except ValueError as failure:
        raise bad_request(str(failure)) from None
    rest = segments[2:]
    settings = rest[0] in ("config", "mode")
    if settings and len(rest) == 1:
        rest.append(prefix)
    for number, segment in enumerate(rest[:-1]):
        if segment == "subjects" or (settings and number == 0):
            rest[number + 1] = _in_context(rest[number + 1], prefix)
            break
    request.segments = [part for part in rest if part]
    if rest[:2] == ["schemas", "ids"]:
        request.query["subject"] = [_in_context(request.text("subject"), prefix)]
    elif rest in (["schemas"], ["subjects"]):
        request.query["subjectPrefix"] = [_in_context(request.text("subjectPrefix"), prefix)]


def replace_aliases(request: Request, service: RegistryService) -> None:
    """Put the subject that an alias stands for in its place."""
    segments = request.segments
    if "subjects" in segments[:-1]:
        place = segments.index("subjects") + 1
        segments[place] = _real_name(segments[place], service)
    elif segments[:2] == ["schemas", "ids"] and request.text("subject"):
        request.query["subject"] = [_real_name(request.text("subject"), service)]


def _real_name(subject: str, service: RegistryService) -> str:
    config = service.store.configs.get(normalize(subject))
    return beside(config.alias, subject) if config is not None and config.alias else subject


def _in_context(name: str, prefix: str) -> str:
    return name if name.startswith((":.", ANY_CONTEXT)) else f"{prefix}{name}"
