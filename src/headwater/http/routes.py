"""Routes: which handler serves which method and path, and what the documentation says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar
from urllib.parse import unquote

from headwater.http.errors import method_not_allowed, not_found

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from headwater.http.answers import Reply
    from headwater.http.request import Request

# The first argument is the service that the route belongs to.
Handler: TypeAlias = "Callable[[Any, Request], Awaitable[Reply]]"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter, for the documentation."""

    name: str
    description: str
    type: str = "boolean"


@dataclass(frozen=True)
class Route:
    """A method and a path with its handler; `{name}` in a path is a parameter.

    `answer` and `body` name schemas of the service's OpenAPI document. A handler gets its
    request's body whole, unless the route `takes_stream`: then it may be of any size. Answers to
    GET may be remembered where the service remembers any, unless they `change` by themselves.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    answer: str
    body: str | None = None
    query: tuple[Parameter, ...] = ()
    errors: tuple[int, ...] = ()
    status: int = 200
    takes_stream: bool = False
    changes: bool = False
    segments: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(split_path(self.path)))

    def documented_errors(self) -> list[int]:
        """Return the statuses, apart from `status`, that a client has to reckon with."""
        return sorted({*self.errors, *((400,) if self.body is not None else ())})

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


AnyRoute = TypeVar("AnyRoute", bound=Route)

_ANY = "{"  # for routes that start with a parameter


class Router(Generic[AnyRoute]):
    """Finds the route of a request."""

    def __init__(self, routes: Sequence[AnyRoute]) -> None:
        self.routes = routes
        self._by_first: dict[tuple[str, int], list[AnyRoute]] = {}
        for route in routes:
            first = route.segments[0] if route.segments else ""
            key = _ANY if first.startswith("{") else first
            self._by_first.setdefault((key, len(route.segments)), []).append(route)

    def find(self, request: Request) -> AnyRoute:
        """Return the route and set the request's parameters; raises HttpError 404 or 405."""
        known = False
        for route, parameters in self._matching(request.segments):
            known = True
            if route.method == request.method:
                request.parameters = parameters
                return route
        raise method_not_allowed(request.method) if known else not_found()

    def knows(self, request: Request) -> bool:
        """Return whether a route has this path, whatever the method."""
        return any(True for _ in self._matching(request.segments))

    def _matching(self, segments: list[str]) -> Iterator[tuple[AnyRoute, dict[str, str]]]:
        for first in (segments[0] if segments else "", _ANY):
            for route in self._by_first.get((first, len(segments)), ()):
                parameters = route.match(segments)
                if parameters is not None:
                    yield route, parameters


def split_path(path: str) -> list[str]:
    """Return a path's parts, decoded; a slash that is encoded belongs to its part.

    Raises UnicodeDecodeError for what is not UTF-8: two such names must not become one.
    """
    return [unquote(part, errors="strict") for part in path.split("/") if part]
