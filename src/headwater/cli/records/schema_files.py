"""Schemas in files or by name: which type they are of, their references, how they are shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.serde import Reference, Schema, SchemaRegistryClient
    from headwater.serde.schema import SchemaType

TYPES = ("AVRO", "JSON", "PROTOBUF")
_BY_SUFFIX: dict[str, SchemaType] = {".avsc": "AVRO", ".proto": "PROTOBUF", ".json": "JSON"}


def read_schema(path: Path, kind: str | None, references: Iterable[str] = ()) -> Schema:
    """Read a schema; without a type, the file's suffix says which it is."""
    from headwater.serde import Schema

    found = kind.upper() if kind else _BY_SUFFIX.get(path.suffix.lower())
    if found not in TYPES:
        raise click.UsageError(
            f"What kind of schema is {path}? Say so with --type, or name it .avsc, .json or .proto."
        )
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as failure:
        raise click.UsageError(f"{path} is not UTF-8: {failure}") from None
    return Schema(text.strip(), found, tuple(_reference(each) for each in references))  # type: ignore[arg-type]


def named_schema(registry: SchemaRegistryClient, given: str, kind: str) -> Schema:
    """Return the schema in a file, or with @SUBJECT or @SUBJECT:VERSION one of the registry."""
    if not given.startswith("@"):
        path = Path(given)
        if not path.is_file():
            raise click.UsageError(
                f"There is no file {given}; a schema of the registry is given as @SUBJECT:VERSION."
            )
        return read_schema(path, kind)
    named = re.fullmatch(r"@(.+?)(?::(\d+))?", given)
    if named is None:
        raise click.UsageError(f"'{given}' is not of the form @SUBJECT or @SUBJECT:VERSION.")
    subject, version = named[1], named[2]
    if version is None:
        return registry.get_latest_version(subject).schema
    return registry.get_version(subject, int(version)).schema


def pretty(schema: Schema) -> str:
    """Return a schema's text, JSON with an indent and everything else as it is."""
    if schema.type == "PROTOBUF":
        return schema.text.rstrip("\n")
    return json.dumps(json.loads(schema.text), indent=2, ensure_ascii=False)


def _reference(text: str) -> Reference:
    from headwater.serde import Reference

    match = re.fullmatch(r"([^=]+)=(.+):(\d+)", text)
    if match is None:
        raise click.BadParameter(
            f"'{text}' is not of the form NAME=SUBJECT:VERSION", param_hint="--reference"
        )
    return Reference(match[1], match[2], int(match[3]))
