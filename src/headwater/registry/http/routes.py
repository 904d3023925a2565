"""Routes: which handler serves which method and path, and what the documentation says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from headwater.registry.errors import RegistryError, bad_request
from headwater.registry.subjects import ANY_CONTEXT, beside, normalize, normalize_context

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.registry.http.answer import Answer
    from headwater.registry.http.request import Request
    from headwater.registry.service import RegistryService

Handler: TypeAlias = "Callable[[RegistryService, Request], Awaitable[Answer]]"
Preparation: TypeAlias = "Callable[[RegistryService, Request], Awaitable[Answer | None]]"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter, for the documentation."""

    name: str
    description: str
    type: str = "boolean"


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path with its handler.

    What `writes` is handled by the leader, one request at a time. `prepare` comes before that, on
    whatever instance was asked, and may have the answer already.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    answer: str
    body: str | None = None
    query: tuple[Parameter, ...] = ()
    errors: tuple[int, ...] = ()
    writes: bool = False
    prepare: Preparation | None = None
    status: int = 200
    segments: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(split_path(self.path)))

    def match(self, segments: list[str]) -> dict[str, str] | None:
        """Return the path's parameters if it is this route's."""
        if len(segments) != len(self.segments):
            return None
        parameters: dict[str, str] = {}
        for wanted, given in zip(self.segments, segments, strict=True):
            if wanted.startswith("{"):
                parameters[wanted[1:-1]] = given
            elif wanted != given:
                return None
        return parameters


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: list[Route]) -> None:
        self.routes = routes
        self._by_first: dict[tuple[str, int], list[Route]] = {}
        for route in routes:
            first = route.segments[0] if route.segments else ""
            self._by_first.setdefault((first, len(route.segments)), []).append(route)

    def find(self, request: Request) -> Route:
        """Return the route and set the request's parameters; raises RegistryError 404 or 405."""
        segments = request.segments
        known = False
        for route in self._by_first.get((segments[0] if segments else "", len(segments)), ()):
            parameters = route.match(segments)
            if parameters is not None:
                known = True
                if route.method == request.method:
                    request.parameters = parameters
                    return route
        if known:
            raise RegistryError(405, 405, f"HTTP 405 Method Not Allowed: {request.method}")
        raise RegistryError(404, 404, "HTTP 404 Not Found")


def split_path(path: str) -> list[str]:
    """Return a path's parts, decoded; a slash that is encoded belongs to its part."""
    return [unquote(part) for part in path.split("/") if part]


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
