"""A client of Confluent's Schema Registry API, with a cache for what cannot change."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

from headwater.clients.registry_access import RegistryAccess, split_urls
from headwater.serde.errors import RegistryError
from headwater.serde.registry_http import RegistryHttp
from headwater.serde.schema import RegisteredSchema, Schema

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Hashable, Iterable

Found = TypeVar("Found")

# More schemas than any one program works with; beyond that, the oldest is asked for again.
_CACHED = 10_000


class AccessOptions(TypedDict, total=False):
    """The fields of RegistryAccess, other than the addresses."""

    username: str | None
    password: str | None
    token: str | None
    ca_file: str | None
    cert_file: str | None
    key_file: str | None
    key_password: str | None
    verify: bool
    check_host: bool
    timeout_s: float
    retries: int


class Compatibility(NamedTuple):
    """What the registry says of a schema; the messages say why it does not fit."""

    is_compatible: bool
    messages: tuple[str, ...]


class SchemaRegistryClient:
    """Talks to a registry, or to several instances of one. Safe to use from many threads.

    >>> registry = SchemaRegistryClient("http://localhost:8081")
    >>> registry.urls
    ('http://localhost:8081',)

    Several addresses are separated by commas; the next one is tried where one does not answer. An
    access that was put together elsewhere is taken in place of an address.
    Ids and versions never change, so their schemas are kept. The latest version of a subject is
    asked for again after `latest_ttl_s`. The other settings are those of RegistryAccess: user name
    and password or a token, certificates, time limit and retries.
    """

    def __init__(
        self,
        url: str | Iterable[str] | RegistryAccess,
        *,
        latest_ttl_s: float = 60.0,
        **access: Unpack[AccessOptions],
    ) -> None:
        if not isinstance(url, RegistryAccess):
            url = RegistryAccess(split_urls(url))
        self._start(replace(url, **access), latest_ttl_s)

    def _start(self, access: RegistryAccess, latest_ttl_s: float) -> None:
        self._access = access
        self._latest_ttl_s = latest_ttl_s
        self._http = RegistryHttp(access)
        self._lock = threading.Lock()
        self._cache: dict[Hashable, Any] = {}
        self._latest: dict[str, tuple[float, RegisteredSchema]] = {}

    def __getstate__(self) -> tuple[RegistryAccess, float]:
        return self._access, self._latest_ttl_s

    def __setstate__(self, state: tuple[RegistryAccess, float]) -> None:
        self._start(*state)

    def __enter__(self) -> SchemaRegistryClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses of the registry, as they were given."""
        return self._access.urls

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def request(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Send any request of the API; parameters that are None or False are left out."""
        present = {
            name: "true" if value is True else value
            for name, value in query.items()
            if value is not None and value is not False
        }
        return self._http.request(method, f"{path}?{urlencode(present)}" if present else path, body)

    # Schemas

    def register_schema(self, subject: str, schema: Schema, *, normalize: bool = False) -> int:
        """Register a schema under a subject and return its id; the same one gets the same id."""

        def ask() -> int:
            answer = self.request(
                "POST", f"{_subject(subject)}/versions", schema.to_json(), normalize=normalize
            )
            with self._lock:
                self._latest.pop(subject, None)
            return int(answer["id"])

        return self._cached(("register", subject, schema, normalize), ask)

    def lookup_schema(
        self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the id and version that a schema has under a subject."""

        def ask() -> RegisteredSchema:
            answer = self.request(
                "POST", _subject(subject), schema.to_json(), normalize=normalize, deleted=deleted
            )
            return RegisteredSchema.from_json(answer)

        return self._cached(("lookup", subject, schema, normalize, deleted), ask)

    def get_schema(self, schema_id: int, subject: str | None = None) -> Schema:
        """Return the schema of an id; `subject` says in which context, where there are several."""
        return self._cached(
            ("id", schema_id, subject),
            lambda: Schema.from_json(
                self.request("GET", f"/schemas/ids/{schema_id}", subject=subject)
            ),
        )

    def get_schema_by_guid(self, guid: uuid.UUID) -> Schema:
        """Return the schema of a GUID, which is the same in all registries."""
        return self._cached(
            ("guid", guid),
            lambda: Schema.from_json(self.request("GET", f"/schemas/guids/{guid}")),
        )

    def get_schemas(
        self, *, prefix: str = "", latest_only: bool = False, deleted: bool = False
    ) -> list[RegisteredSchema]:
        """Return the schemas of all subjects that start with the prefix."""
        answers = self.request(
            "GET",
            "/schemas",
            subjectPrefix=prefix or None,
            latestOnly=latest_only,
            deleted=deleted,
        )
        return [RegisteredSchema.from_json(answer) for answer in answers]

    # Subjects and versions

    def get_subjects(self, *, prefix: str = "", deleted: bool = False) -> list[str]:
        """Return the names of all subjects."""
        found: list[str] = self.request(
            "GET", "/subjects", subjectPrefix=prefix or None, deleted=deleted
        )
        return found

    def get_versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        """Return the versions of a subject."""
        found: list[int] = self.request("GET", f"{_subject(subject)}/versions", deleted=deleted)
        return found

    def get_version(self, subject: str, version: int, *, deleted: bool = False) -> RegisteredSchema:
        """Return one version of a subject."""
        return self._cached(
            ("version", subject, version, deleted),
            lambda: RegisteredSchema.from_json(
                self.request("GET", f"{_subject(subject)}/versions/{version}", deleted=deleted)
            ),
        )

    def get_latest_version(self, subject: str) -> RegisteredSchema:
        """Return the newest version of a subject, as it was at most `latest_ttl_s` ago."""
        now = time.monotonic()
        with self._lock:
            asked, known = self._latest.get(subject, (0.0, None))
            if known is not None and now - asked < self._latest_ttl_s:
                return known
        latest = RegisteredSchema.from_json(
            self.request("GET", f"{_subject(subject)}/versions/latest")
        )
        with self._lock:
            self._latest[subject] = (now, latest)
        return latest

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete a subject and return its versions; for good only after a first, soft deletion."""
        deleted: list[int] = self.request("DELETE", _subject(subject), permanent=permanent)
        self.forget()
        return deleted

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        """Delete one version of a subject."""
        path = f"{_subject(subject)}/versions/{version}"
        deleted = int(self.request("DELETE", path, permanent=permanent))
        self.forget()
        return deleted

    # Compatibility

    def get_compatibility(self, subject: str | None = None) -> str:
        """Return the level of a subject, or else the global one that applies to it."""
        if subject is None:
            return str(self.request("GET", "/config")["compatibilityLevel"])
        answer = self.request("GET", f"/config/{_quoted(subject)}", defaultToGlobal=True)
        return str(answer["compatibilityLevel"])

    def get_own_compatibility(self, subject: str) -> str | None:
        """Return the level that was set for this subject alone, if there is one."""
        try:
            answer = self.request("GET", f"/config/{_quoted(subject)}")
        except RegistryError as refusal:
            if refusal.status == 404:
                return None
            raise
        return str(answer["compatibilityLevel"])

    def set_compatibility(self, level: str, subject: str | None = None) -> str:
        """Set the level of a subject, or the global one."""
        path = "/config" if subject is None else f"/config/{_quoted(subject)}"
        return str(self.request("PUT", path, {"compatibility": level})["compatibility"])

    def delete_compatibility(self, subject: str) -> None:
        """Let the global level apply to a subject again."""
        self.request("DELETE", f"/config/{_quoted(subject)}")

    def check_compatibility(
        self, subject: str, schema: Schema, version: int | Literal["latest"] | None = None
    ) -> Compatibility:
        """Ask whether a schema could be registered: by the subject's level, or against a version.

        Nothing is registered.
        """
        where = "" if version is None else f"/{version}"
        answer = self.request(
            "POST",
            f"/compatibility/subjects/{_quoted(subject)}/versions{where}",
            schema.to_json(),
            verbose=True,
        )
        return Compatibility(bool(answer["is_compatible"]), tuple(answer.get("messages") or ()))

    # The cache

    def forget(self) -> None:
        """Ask the registry for everything again."""
        with self._lock:
            self._cache.clear()
            self._latest.clear()

    def _cached(self, key: Hashable, ask: Callable[[], Found]) -> Found:
        found: Found | None = self._cache.get(key)
        if found is None:
            found = ask()
            with self._lock:
                while len(self._cache) >= _CACHED:
                    del self._cache[next(iter(self._cache))]
                self._cache[key] = found
        return found


def _quoted(subject: str) -> str:
    return quote(subject, safe="")


def _subject(subject: str) -> str:
    return f"/subjects/{_quoted(subject)}"
