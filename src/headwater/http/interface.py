"""A service's interface as data: its routes, its media types, and what the documentation says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from headwater.http.answers import error
from headwater.http.media_types import MediaTypes
from headwater.http.routes import AnyRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.http.answers import Answer
    from headwater.http.errors import HttpError


@dataclass(frozen=True)
class Interface(Generic[AnyRoute]):
    """What clients can ask for.

    `schemas` are the components of the OpenAPI document, among them `Error`; `meanings` says what
    a status means here; `integers` names the path parameters that are numbers. `form` writes
    errors as the service's clients expect them.
    """

    title: str
    routes: Sequence[AnyRoute]
    media: MediaTypes = field(default_factory=MediaTypes)
    description: str = ""
    schemas: Mapping[str, Any] = field(default_factory=dict)
    meanings: Mapping[int, str] = field(default_factory=dict)
    integers: frozenset[str] = frozenset()
    form: Callable[[HttpError], Answer] = error
