"""Maven coordinates: which library, in which version."""

from __future__ import annotations

import re
from typing import NamedTuple

_PART = re.compile(r"[A-Za-z0-9._-]+")


class ArtifactError(Exception):
    """A library cannot be had: the message says which one, why, and what to do."""


class Coordinate(NamedTuple):
    """A library as Maven names it."""

    group: str
    artifact: str
    version: str

    @classmethod
    def parse(cls, text: str) -> Coordinate:
        """Read "group:artifact:version"."""
        parts = text.split(":")
        if len(parts) != 3 or not all(_PART.fullmatch(part) for part in parts):
            raise ArtifactError(f"'{text}' is no coordinate of the form group:artifact:version")
        return cls(*parts)

    @property
    def file_name(self) -> str:
        """The name of the jar."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Where the jar is in a repository."""
        group = self.group.replace(".", "/")
        return f"{group}/{self.artifact}/{self.version}/{self.file_name}"

    def __str__(self) -> str:
        return ":".join(self)
