"""A request as handlers see it: path parameters, query and body, with readable complaints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from headwater.registry.errors import RegistryError, bad_request, invalid_version

if TYPE_CHECKING:
    from collections.abc import Mapping

Body = TypeVar("Body")

MAX_INT = 2**31 - 1


@dataclass(slots=True)
class Request:
    """One request."""

    method: str
    segments: list[str]  # of the path, decoded
    query: dict[str, list[str]] = field(default_factory=dict)
    headers: Mapping[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    parameters: dict[str, str] = field(default_factory=dict)
    prepared: Any = None  # what a route's preparation found out

    def flag(self, name: str) -> bool:
        """Return a boolean query parameter; absent ones are false."""
        return self.text(name).lower() == "true"

    def text(self, name: str, default: str = "") -> str:
        """Return a query parameter."""
        return self.query.get(name, [default])[0]

    def number(self, name: str, default: int) -> int:
        """Return a numeric query parameter; raises RegistryError 400."""
        text = self.text(name)
        if not text:
            return default
        try:
            return int(text)
        except ValueError:
            raise bad_request(f"The query parameter {name} is no number: '{text}'") from None

    @property
    def subject(self) -> str:
        """The path's subject."""
        return self.parameters["subject"]

    @property
    def id(self) -> int:
        """The path's id; raises RegistryError 404 for what is no number."""
        text = self.parameters["id"]
        if not text.lstrip("-").isdigit() or not text.isascii() or len(text) > 11:
            raise RegistryError(404, 404, f"HTTP 404 Not Found: '{text}' is no id")
        return int(text)

    @property
    def version(self) -> int:
        """The path's version, -1 for "latest"; raises RegistryError 42202."""
        text = self.parameters["version"].strip()
        if text.lower() == "latest":
            return -1
        try:
            version = int(text)
        except ValueError:
            raise invalid_version(text) from None
        if not (1 <= version <= MAX_INT or version == -1):
            raise invalid_version(version)
        return version

    def decode(self, kind: type[Body]) -> Body:
        """Return the body; raises RegistryError 400 or 422."""
        if not self.body.strip():
            raise RegistryError(422, 422, "The request has no body")
        try:
            return msgspec.json.decode(self.body, type=kind)
        except msgspec.ValidationError as failure:
            raise RegistryError(422, 422, f"The request's body is wrong: {failure}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as failure:
            raise bad_request(f"The request's body is not JSON: {failure}") from None
        except RecursionError:
            raise bad_request("The request's body nests too deeply") from None

    def page(self, default_limit: int = MAX_INT) -> slice:
        """Return what of a list the client wants to see."""
        offset = max(0, self.number("offset", 0))
        limit = self.number("limit", -1)
        if not 0 < limit <= default_limit:
            limit = default_limit
        return slice(offset, offset + limit)
