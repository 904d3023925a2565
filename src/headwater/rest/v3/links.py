"""Resources of version 3: their kind, where they are, what they are called, and lists of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from headwater.http.answers import JSON, Answer, encode
from headwater.http.errors import HttpError, bad_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.http.request import Request
    from headwater.rest.service import RestService

Item = TypeVar("Item")

CREATED = 201
NOTHING = Answer(b"", 204)


class Page(NamedTuple, Generic[Item]):
    """A part of a list, and where the next one is."""

    items: Sequence[Item]
    next: str | None


class Links:
    """Writes the links of one answer.

    A path is that below the cluster: `("topics", "orders")`. It makes a resource's URL, and with
    `names`, the words for it, its CRN.
    """

    def __init__(self, service: RestService, request: Request, cluster_id: str) -> None:
        self._service = service
        self._request = request
        self.cluster_id = cluster_id

    def url(self, *path: object) -> str:
        """Return where something of the cluster is."""
        parts = ("v3", "clusters", self.cluster_id, *path)
        return self._service.url(
            self._request, "".join(f"/{quote(str(part), safe='-')}" for part in parts)
        )

    def related(self, *path: object) -> dict[str, str]:
        """Return a link to something else."""
        return {"related": self.url(*path)}

    def resource(
        self, kind: str, path: Sequence[object], names: Sequence[object], **fields: Any
    ) -> dict[str, Any]:
        """Return a resource; the names are words and ids in turn."""
        return {
            "kind": kind,
            "metadata": {"self": self.url(*path), "resource_name": self._name(names)},
            "cluster_id": self.cluster_id,
            **fields,
        }

    def answer(self, value: Any, status: int = 200) -> Answer:
        """Answer with a resource."""
        return Answer(encode(value), status, JSON)

    def list(self, kind: str, path: Sequence[object], resources: Sequence[Any]) -> Answer:
        """Answer with a list, or with the page of it that is asked for."""
        page = self.page(path, resources)
        return self.list_page(kind, path, page.items, page.next)

    def list_page(
        self, kind: str, path: Sequence[object], resources: Sequence[Any], next_: str | None
    ) -> Answer:
        """Answer with a page."""
        query = self._request.target.partition("?")[2]
        itself = self.url(*path) + (f"?{query}" if query else "")
        metadata = {"self": itself, "next": next_}
        return self.answer({"kind": kind, "metadata": metadata, "data": resources})

    def page(self, path: Sequence[object], items: Sequence[Item]) -> Page[Item]:
        """Return what of a list is asked for, so that the rest need not be looked up."""
        size = self._request.number("page_size", 0)
        first = self._request.number("page_token", 0)
        if size < 0 or first < 0:
            raise bad_request("page_size and page_token are not negative")
        if size == 0:
            return Page(items[first:], None)
        end = first + size
        if end >= len(items):
            return Page(items[first:end], None)
        query = {name: values[0] for name, values in self._request.query.items()}
        query |= {"page_size": str(size), "page_token": str(end)}
        return Page(items[first:end], f"{self.url(*path)}?{urlencode(query)}")

    def _name(self, names: Sequence[object]) -> str:
        parts = ["crn:///kafka=" + self.cluster_id]
        for word, id_ in zip(names[::2], names[1::2], strict=True):
            parts.append(f"{word}={id_}" if id_ is not None else str(word))
        return "/".join(parts)


async def links_of(service: RestService, request: Request) -> Links:
    """Return the links of the cluster in a path; raises HttpError 404 for another cluster."""
    wanted = request.parameters["cluster_id"]
    known = await service.cluster_id()
    if wanted != known:
        raise HttpError(
            404, 404, f"Cluster {wanted} cannot be found: this proxy speaks for {known}."
        )
    return Links(service, request, known)


def not_found(what: str) -> HttpError:
    """There is no such thing in the cluster."""
    return HttpError(404, 404, f"{what} cannot be found.")
