"""What the registry's paths are made of: subjects, ids and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.errors import HttpError
from headwater.http.request import MAX_INT
from headwater.registry.errors import invalid_version
from headwater.registry.subjects import normalize

if TYPE_CHECKING:
    from headwater.http.request import Request


def subject_of(request: Request) -> str:
    """Return the path's subject in its normal form."""
    return normalize(request.parameters["subject"])


def id_of(request: Request) -> int:
    """Return the path's id; raises HttpError 404 for what is no number."""
    text = request.parameters["id"]
    if not text.lstrip("-").isdigit() or not text.isascii() or len(text) > 11:
        raise HttpError(404, 404, f"HTTP 404 Not Found: '{text}' is no id")
    return int(text)


def version_of(request: Request) -> int:
    """Return the path's version, -1 for "latest"; raises RegistryError 42202."""
    text = request.parameters["version"].strip()
    if text.lower() == "latest":
        return -1
    try:
        version = int(text)
    except ValueError:
        raise invalid_version(text) from None
    if not (1 <= version <= MAX_INT or version == -1):
        raise invalid_version(version)
    return version
