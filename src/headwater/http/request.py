"""A request as handlers see it: path parameters, query and body, with readable complaints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from headwater.http.body import Body
from headwater.http.errors import HttpError, bad_request, forbidden
from headwater.http.principals import ANONYMOUS, Principal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from headwater.http.rights import Operation, ResourceType, Rights

Kind = TypeVar("Kind")

MAX_INT = 2**31 - 1


@dataclass(slots=True)
class Request:
    """One request.

    `body` is whole before the handler is called, but for routes that take it as a stream: these
    iterate over `chunks()`.
    """

    method: str
    segments: list[str]  # of the path, decoded
    query: dict[str, list[str]] = field(default_factory=dict)
    headers: Mapping[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    parameters: dict[str, str] = field(default_factory=dict)
    principal: Principal = ANONYMOUS
    target: str = "/"  # the path with its query, as it was sent
    media_type: str = ""  # what the client wants the answer to be
    incoming: Body = field(default_factory=Body)
    prepared: Any = None  # what was found out before the handler
    rights: Rights | None = None  # who may do what; None where everybody may do everything

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the body as it comes; raises HttpError 413, ClientDisconnectedError."""
        return self.incoming.chunks()

    def may(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Whether who is asking may do something to a resource."""
        return self.rights is None or self.rights.allow(
            self.principal, operation, resource_type, name
        )

    def require(self, operation: Operation, resource_type: ResourceType, name: str) -> None:
        """Raise HttpError 403 unless who is asking may do it."""
        if not self.may(operation, resource_type, name):
            what = f"{operation.name} on the {resource_type.value} {name}"
            raise forbidden(f"{self.principal} has no {what}")

    def flag(self, name: str) -> bool:
        """Return a boolean query parameter; absent ones are false."""
        return self.text(name).lower() == "true"

    def text(self, name: str, default: str = "") -> str:
        """Return a query parameter."""
        return self.query.get(name, [default])[0]

    def number(self, name: str, default: int) -> int:
        """Return a numeric query parameter; raises HttpError 400."""
        text = self.text(name)
        if not text:
            return default
        try:
            return int(text)
        except ValueError:
            raise bad_request(f"The query parameter {name} is no number: '{text}'") from None

    def decode(self, kind: type[Kind]) -> Kind:
        """Return the body; raises HttpError 400 or 422."""
        if not self.body.strip():
            raise HttpError(422, 422, "The request has no body")
        try:
            return msgspec.json.decode(self.body, type=kind)
        except msgspec.ValidationError as failure:
            raise HttpError(422, 422, f"The request's body is wrong: {failure}") from None
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
