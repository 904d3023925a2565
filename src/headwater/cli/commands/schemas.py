"""`headwater schemas`: list, show, register, check, compare and delete schemas of a registry."""

from __future__ import annotations

import difflib
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.registry import registry_options
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.cli.records.schema_files import TYPES, pretty, read_schema
from headwater.serde.refusals import readable_reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater.serde import RegisteredSchema, Schema, SchemaRegistryClient

LEVELS = (
    *("BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE"),
    *("FULL", "FULL_TRANSITIVE", "NONE"),
)
_NO_SUBJECT, _NO_VERSION = 40401, 40402
_DELETED_SOFTLY_BEFORE = (40404, 40406)

_file = click.Path(exists=True, dir_okay=False, path_type=Path)


def _schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--reference",
            "references",
            metavar="NAME=SUBJECT:VERSION",
            multiple=True,
            help="A schema that this one uses; may be given several times.",
        ),
        click.option(
            "-t",
            "--type",
            "kind",
            type=click.Choice(TYPES, case_sensitive=False),
            help="Default: by the file's name (.avsc, .json, .proto).",
        ),
    ):
        command = option(command)
    return command


@click.group(cls=LazyGroup)
def schemas() -> None:
    """List, show, register, check, compare and delete schemas."""


@schemas.command(
    "list",
    epilog="""\b
Examples:
  headwater schemas list
  headwater schemas list --prefix orders --json""",
)
@click.option("--prefix", default="", help="Only subjects that start like this.")
@click.option("--deleted", is_flag=True, help="Also soft-deleted ones.")
@json_option
@registry_options
def list_(registry: SchemaRegistryClient, prefix: str, deleted: bool, as_json: bool) -> None:
    """List subjects, with the latest version of each."""
    found = registry.get_schemas(prefix=prefix, latest_only=True, deleted=deleted)
    columns = ["subject", "version", "id", "type"]
    rows = [(each.subject, each.version, each.id, each.schema.type) for each in found]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table([column.upper() for column in columns], rows)


@schemas.command(
    epilog="""\b
Examples:
  headwater schemas get orders-value
  headwater schemas get orders-value --version 1
  headwater schemas get --id 7"""
)
@click.argument("subject", required=False)
@click.option("-v", "--version", type=click.IntRange(1), help="Default: the latest.")
@click.option("--id", "schema_id", type=click.IntRange(0), help="A schema by its id.")
@json_option
@registry_options
def get(
    registry: SchemaRegistryClient,
    subject: str | None,
    version: int | None,
    schema_id: int | None,
    as_json: bool,
) -> None:
    """Print a schema."""
    if (subject is None) == (schema_id is None) or (schema_id is not None and version is not None):
        raise click.UsageError("Give a subject, and perhaps its --version; or an --id.")
    if schema_id is not None:
        schema = registry.get_schema(schema_id)
        known: dict[str, Any] = {"id": schema_id}
    else:
        assert subject is not None
        registered = _version(registry, subject, version)
        schema = registered.schema
        known = {"subject": subject, "version": registered.version, "id": registered.id}
    if as_json:
        print_json({**known, "schemaType": schema.type, **schema.to_json()})
    else:
        click.echo(pretty(schema))


@schemas.command(
    epilog="""\b
Examples:
  headwater schemas register orders-value order.avsc
  headwater schemas register orders-value order.json --type json
  headwater schemas register orders-value order.proto --reference common.proto=common:1"""
)
@click.argument("subject")
@click.argument("file", type=_file)
@_schema_options
@click.option(
    "--normalize", is_flag=True, help="Normalize it: one that only looks different is the same."
)
@json_option
@registry_options
def register(
    registry: SchemaRegistryClient,
    subject: str,
    file: Path,
    kind: str | None,
    references: tuple[str, ...],
    normalize: bool,
    as_json: bool,
) -> None:
    """Register FILE as the next version of SUBJECT, if it is compatible."""
    from headwater.serde import RegistryError

    schema = read_schema(file, kind, references)
    try:
        registry.register_schema(subject, schema, normalize=normalize)
    except RegistryError as refusal:
        if refusal.status == 409:
            _explain_conflict(registry, subject, schema)
        raise
    registered = registry.lookup_schema(subject, schema, normalize=normalize)
    if as_json:
        print_json({"subject": subject, "version": registered.version, "id": registered.id})
    else:
        click.echo(f"{subject} has it as version {registered.version}, with id {registered.id}.")


@schemas.command(
    epilog="""\b
Examples:
  headwater schemas check orders-value order.avsc
  headwater schemas check orders-value order.avsc --version 1"""
)
@click.argument("subject")
@click.argument("file", type=_file)
@_schema_options
@click.option(
    "-v", "--version", type=click.IntRange(1), help="Default: all that the level asks for."
)
@registry_options
def check(
    registry: SchemaRegistryClient,
    subject: str,
    file: Path,
    kind: str | None,
    references: tuple[str, ...],
    version: int | None,
) -> None:
    """Say whether FILE could be registered under SUBJECT; registers nothing.

    Exit code 1 and the reasons, if it could not.
    """
    schema = read_schema(file, kind, references)
    with _known_subject(registry, subject):
        answer = registry.check_compatibility(subject, schema, version)
    if not answer.is_compatible:
        raise CommandError(_conflict(registry, subject, answer.messages))
    click.echo(f"Compatible ({registry.get_compatibility(subject)}).")


@schemas.command(
    epilog="""\b
Examples:
  headwater schemas diff orders-value              the last two versions
  headwater schemas diff orders-value 1 3          two versions
  headwater schemas diff orders-value order.avsc   the latest version and a file"""
)
@click.argument("subject")
@click.argument("old", metavar="[VERSION|FILE]", required=False)
@click.argument("new", metavar="[VERSION|FILE]", required=False)
@registry_options
def diff(registry: SchemaRegistryClient, subject: str, old: str | None, new: str | None) -> None:
    """Compare two versions of SUBJECT, or a version and a file."""
    with _known_subject(registry, subject):
        versions = registry.get_versions(subject)
    if old is None:
        if len(versions) < 2:
            raise CommandError(f"{subject} has one version only, {versions[0]}; nothing to compare")
        old, new = str(versions[-2]), str(versions[-1])
    elif new is None:
        old, new = (str(versions[-1]), old) if not old.isdigit() else (old, str(versions[-1]))
    named = [_named(registry, subject, each) for each in (old, new)]
    (old_name, old_text), (new_name, new_text) = named
    lines = list(
        difflib.unified_diff(
            old_text.splitlines(), new_text.splitlines(), old_name, new_name, lineterm=""
        )
    )
    if not lines:
        note(f"No difference between {old_name} and {new_name}.")
    for line in lines:
        click.echo(_coloured(line))


@schemas.command(
    epilog="""\b
Examples:
  headwater schemas delete orders-value
  headwater schemas delete orders-value --version 2
  headwater schemas delete orders-value --permanent --yes"""
)
@click.argument("subject")
@click.option("-v", "--version", type=click.IntRange(1), help="Only this version.")
@click.option(
    "--permanent", is_flag=True, help="A hard delete: records with it cannot be read again."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask, also on a terminal.")
@registry_options
def delete(
    registry: SchemaRegistryClient, subject: str, version: int | None, permanent: bool, yes: bool
) -> None:
    """Delete SUBJECT, or one version of it. Asks first when run on a terminal.

    A soft delete: ids still work, and the schema can be registered again; unless --permanent.
    """
    from headwater.serde import RegistryError

    what = subject if version is None else f"version {version} of {subject}"
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(f"Delete {what}{' for good' if permanent else ''}?", abort=True, err=True)
    with _known_subject(registry, subject):
        try:
            _delete(registry, subject, version, permanent=False)
        except RegistryError as refusal:
            # The registry deletes in two steps, and the first one may have been taken already.
            if not permanent or refusal.error_code not in _DELETED_SOFTLY_BEFORE:
                raise
        if permanent:
            _delete(registry, subject, version, permanent=True)
    note(f"Deleted {what}{' for good' if permanent else ''}.")


@schemas.command(
    epilog="""\b
Examples:
  headwater schemas compatibility                          the global level
  headwater schemas compatibility orders-value
  headwater schemas compatibility orders-value --set FULL
  headwater schemas compatibility --set BACKWARD_TRANSITIVE
  headwater schemas compatibility orders-value --reset"""
)
@click.argument("subject", required=False)
@click.option(
    "--set", "level", type=click.Choice(LEVELS, case_sensitive=False), help="The new level."
)
@click.option("--reset", is_flag=True, help="Let the global level apply to the subject again.")
@registry_options
def compatibility(
    registry: SchemaRegistryClient, subject: str | None, level: str | None, reset: bool
) -> None:
    """Show or set the compatibility level: of SUBJECT, or the global one."""
    if reset and (subject is None or level is not None):
        raise click.UsageError("--reset takes a subject, and no --set.")
    if reset:
        assert subject is not None
        registry.delete_compatibility(subject)
    elif level is not None:
        registry.set_compatibility(level.upper(), subject)
    click.echo(registry.get_compatibility(subject))


def _version(registry: SchemaRegistryClient, subject: str, version: int | None) -> RegisteredSchema:
    with _known_subject(registry, subject):
        if version is None:
            return registry.get_latest_version(subject)
        return registry.get_version(subject, version)


def _named(registry: SchemaRegistryClient, subject: str, given: str) -> tuple[str, str]:
    """Return a title and a text for a version's number, or for a file."""
    if given.isdigit():
        return f"{subject} {given}", pretty(_version(registry, subject, int(given)).schema)
    path = Path(given)
    if not path.is_file():
        raise click.UsageError(f"'{given}' is neither a version nor a file.")
    latest = _version(registry, subject, None).schema
    return given, pretty(read_schema(path, latest.type))


@contextmanager
def _known_subject(registry: SchemaRegistryClient, subject: str) -> Iterator[None]:
    from headwater.serde import RegistryError

    try:
        yield
    except RegistryError as refusal:
        if refusal.error_code == _NO_SUBJECT:
            close = difflib.get_close_matches(subject, registry.get_subjects(), n=3)
            hint = f"Did you mean {' or '.join(close)}?" if close else "See: headwater schemas list"
            raise CommandError(f"there is no subject '{subject}'. {hint}") from None
        if refusal.error_code == _NO_VERSION:
            versions = ", ".join(map(str, registry.get_versions(subject)))
            raise CommandError(
                f"{subject} has no such version; it has {versions or 'none'}"
            ) from None
        raise


def _delete(
    registry: SchemaRegistryClient, subject: str, version: int | None, *, permanent: bool
) -> None:
    if version is None:
        registry.delete_subject(subject, permanent=permanent)
    else:
        registry.delete_version(subject, version, permanent=permanent)


def _explain_conflict(registry: SchemaRegistryClient, subject: str, schema: Schema) -> None:
    answer = registry.check_compatibility(subject, schema)
    if not answer.is_compatible:
        raise CommandError(_conflict(registry, subject, answer.messages))


def _conflict(registry: SchemaRegistryClient, subject: str, messages: tuple[str, ...]) -> str:
    level = registry.get_compatibility(subject)
    reasons = "".join(f"\n  {reason}" for reason in readable_reasons(messages))
    return f"not compatible with {subject} ({level}):{reasons}"


def _coloured(line: str) -> str:
    if line.startswith(("+", "-")):
        return click.style(line, fg="green" if line[0] == "+" else "red")
    return line
