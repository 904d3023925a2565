"""Secrets by reference, in the notation of Kafka's config providers: `${file:/path:key}`.

| reference | what it stands for |
| --- | --- |
| `${file:/path/to.properties:key}` | a key of a properties file |
| `${directory:/path:name}` | all of a file, less the end of its last line, as containers have it |
| `${env:NAME}` | an environment variable |

A text may hold several, and anything around them. They are resolved by whoever uses the value, as
late as can be: what is stored, handed on or shown has the references.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\{(file|directory|env):(?:([^}]*):)?([^}:]*)\}")


class UnresolvedReferenceError(ValueError):
    """A reference leads nowhere; the message has it, and says what is missing."""


@dataclass(frozen=True)
class References:
    """Resolves references to the files and variables that may be referred to.

    What comes from people who may not read all that this process can read, such as connectors over
    HTTP, should be held to some folders and to variables of some names.
    """

    allowed_paths: tuple[Path, ...] = ()
    """Files, or folders that they must be in; none stands for all, as in Kafka."""
    allowed_variables: str = ".*"
    """A regular expression for the names of environment variables."""

    def resolve(self, text: str) -> str:
        """Return a text with what its references stand for; raises UnresolvedReferenceError.

        >>> os.environ["NAME"] = "ann"
        >>> References().resolve("user ${env:NAME} of ${topic}")
        'user ann of ${topic}'
        """
        if "${" not in text:
            return text
        return _REFERENCE.sub(self._value, text)

    def resolve_all(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Resolve all values; the error names the setting as well."""
        resolved = {}
        for name, text in settings.items():
            try:
                resolved[name] = self.resolve(text)
            except UnresolvedReferenceError as failure:
                raise UnresolvedReferenceError(f"{name}: {failure}") from None
        return resolved

    def _value(self, match: re.Match[str]) -> str:
        provider, path, key = match.groups()
        if provider == "env":
            return self._variable(match[0], key)
        if not path or not key:
            raise UnresolvedReferenceError(
                f"{match[0]}: write ${{file:/path/to.properties:key}} or ${{directory:/path:file}}"
            )
        read = _read_property if provider == "file" else _read_file
        place = Path(path) if provider == "file" else Path(path, key)
        if provider == "directory" and Path(key).name != key:
            raise UnresolvedReferenceError(f"{match[0]}: '{key}' is no file's name")
        self._check_allowed(match[0], place)
        try:
            return read(match[0], place, key)
        except OSError as failure:
            raise UnresolvedReferenceError(f"{match[0]}: {place}: {failure.strerror}") from None
        except UnicodeDecodeError:
            raise UnresolvedReferenceError(f"{match[0]}: {place} is not text in UTF-8") from None

    def _variable(self, reference: str, name: str) -> str:
        if re.fullmatch(self.allowed_variables, name) is None:
            raise UnresolvedReferenceError(f"{reference}: this variable may not be referred to")
        if name not in os.environ:
            raise UnresolvedReferenceError(f"{reference}: there is no such environment variable")
        return os.environ[name]

    def _check_allowed(self, reference: str, place: Path) -> None:
        if not self.allowed_paths:
            return
        real = place.resolve()  # not to be led out by `..` or by a link
        if not any(real.is_relative_to(allowed.resolve()) for allowed in self.allowed_paths):
            raise UnresolvedReferenceError(f"{reference}: this file may not be referred to")


def has_reference(text: str) -> bool:
    """Whether a text holds a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def _read_property(reference: str, place: Path, key: str) -> str:
    from headwater.config.properties import parse_properties

    found = parse_properties(place.read_text("utf-8"))
    if key not in found:
        raise UnresolvedReferenceError(f"{reference}: there is no '{key}' in {place}")
    return found[key]


def _read_file(_reference: str, place: Path, _key: str) -> str:
    text = place.read_text("utf-8")
    return text.removesuffix("\n").removesuffix("\r")
