"""Looks at a schema registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.doctor.finding import Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.clients import RegistryAccess

AREA = "registry"


def look_at_registry(access: RegistryAccess, *, is_asked_for: bool) -> Iterator[Finding]:
    """Return how a registry is; one that nobody asked for need not be there."""
    from headwater.serde import RegistryError, RegistryUnreachableError, SchemaRegistryClient

    client = SchemaRegistryClient(access, retries=0)
    try:
        subjects = client.get_subjects()
    except RegistryUnreachableError as failure:
        level = Level.PROBLEM if is_asked_for else Level.NOTE
        yield Finding(AREA, level, str(failure), "Start one with: headwater up")
    except RegistryError as failure:
        yield Finding(AREA, Level.PROBLEM, str(failure), "Look at the registry's own log")
    else:
        yield Finding(AREA, Level.OK, f"{len(subjects)} subjects at {access.urls[0]}")
    finally:
        client.close()
