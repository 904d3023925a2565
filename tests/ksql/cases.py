"""The cases in a folder of query validation tests, in the format of ksqlDB's own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The files have comments, which JSON does not know; a text is kept as it is.
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_PLACEHOLDER = "{FORMAT}"


@dataclass(frozen=True)
class Case:
    """Statements of one test, whether the last of them is to be refused, and what it makes.

    `schemas` are the columns that sources have in the end, as a CREATE statement declares them;
    `topics` has what is there before, with schemas of the registry.
    """

    file: str
    name: str
    statements: tuple[str, ...]
    refused: bool = False
    schemas: tuple[tuple[str, str], ...] = ()
    settings: dict[str, str] = field(default_factory=dict, hash=False)
    topics: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    inputs: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    outputs: tuple[dict[str, Any], ...] = field(default=(), hash=False)


def read_cases(folder: Path, letters: str) -> Iterator[Case]:
    """Return the cases of the files whose names begin with one of the letters."""
    for path in sorted(folder.glob("*.json")):
        if path.name[0].lower() in letters:
            yield from _cases(path)


def _cases(path: Path) -> Iterator[Case]:
    content = json.loads(_COMMENT.sub(lambda match: match[1] or "", path.read_text("utf-8")))
    for test in content["tests"]:
        if test.get("enabled", True):
            yield from _variants(path.name, test)


def _variants(file: str, test: dict[str, Any]) -> Iterator[Case]:
    for format_ in test.get("format") or [None]:
        suffix = "" if format_ is None else f" - {format_}"
        yield Case(
            file,
            test["name"] + suffix,
            tuple(
                statement.replace(_PLACEHOLDER, format_ or _PLACEHOLDER)
                for statement in test["statements"]
            ),
            "expectedException" in test or "expectedError" in test,
            tuple(
                (source["name"], source["schema"])
                for source in test.get("post", {}).get("sources", [])
                if "schema" in source
            ),
            {name: str(value) for name, value in test.get("properties", {}).items()},
            tuple(test.get("topics", ())),
            tuple(test.get("inputs", ())),
            tuple(test.get("outputs", ())),
        )
