"""`headwater users`: who may log in by SCRAM, and with which password."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.output import json_option, note, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.clients.connection import Connection

_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_DEFAULT_ITERATIONS = 4096

Users = dict[str, dict[str, int]]
"""The iterations by mechanism, by user."""


@click.group(cls=LazyGroup)
def users() -> None:
    """Create, alter, delete and list users of SASL/SCRAM."""


def password_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what a password is for and where it comes from."""
    for option in (
        click.option(
            "--password-file",
            metavar="FILE",
            type=click.File("r"),
            help="Read the password from the first line of a file, or of standard input (-);"
            " without it, it is asked for. It is never an option: everybody on this machine could"
            " read it.",
        ),
        click.option(
            "--iterations",
            type=click.IntRange(4096, 16_384),
            default=_DEFAULT_ITERATIONS,
            show_default=True,
            help="How often the password is hashed.",
        ),
        click.option(
            "--mechanism",
            "mechanisms",
            type=click.Choice(_MECHANISMS, case_sensitive=False),
            multiple=True,
            help="Only this mechanism; may be given twice.  [default: both]",
        ),
    ):
        command = option(command)
    return command


@users.command(
    epilog="""\b
Examples:
  headwater users create ann
  headwater users create ann --password-file ann.txt --mechanism SCRAM-SHA-512"""
)
@click.argument("name")
@password_options
@connection_options
def create(connection: Connection, name: str, **given: Any) -> None:
    """Create a user who does not exist yet."""
    if name in _known(connection, name):
        raise CommandError(f"There is a user '{name}' already. Use `headwater users alter`.")
    _set_password(connection, name, **given)
    note(f"Created the user {name}.")


@users.command(
    epilog="""\b
Examples:
  headwater users alter ann
  headwater users alter ann --password-file - < ann.txt"""
)
@click.argument("name")
@password_options
@connection_options
def alter(connection: Connection, name: str, **given: Any) -> None:
    """Give a user a new password; who is logged in stays so."""
    if name not in _known(connection, name):
        raise CommandError(f"There is no user '{name}'. Use `headwater users create`.")
    _set_password(connection, name, **given)
    note(f"Changed the password of {name}.")


@users.command(
    epilog="""\b
Examples:
  headwater users delete ann
  headwater users delete ann --mechanism SCRAM-SHA-256"""
)
@click.argument("name")
@click.option(
    "--mechanism",
    "mechanisms",
    type=click.Choice(_MECHANISMS, case_sensitive=False),
    multiple=True,
    help="Only this mechanism.  [default: all]",
)
@connection_options
def delete(connection: Connection, name: str, mechanisms: tuple[str, ...]) -> None:
    """Delete a user, or let it log in by one mechanism no more."""
    from confluent_kafka.admin import UserScramCredentialDeletion

    known = _known(connection, name).get(name)
    if not known:
        raise CommandError(f"There is no user '{name}'.")
    _alter(
        connection,
        [
            UserScramCredentialDeletion(name, _number(mechanism))
            for mechanism in mechanisms or known
        ],
    )
    note(f"Deleted {', '.join(mechanisms)} of {name}." if mechanisms else f"Deleted {name}.")


@users.command(
    "list",
    epilog="""\b
Examples:
  headwater users list
  headwater users list --json""",
)
@json_option
@connection_options
def list_command(connection: Connection, as_json: bool) -> None:
    """List all users and the mechanisms that they have a password for."""
    rows = [
        (name, mechanism, iterations)
        for name, mechanisms in sorted(_known(connection).items())
        for mechanism, iterations in sorted(mechanisms.items())
    ]
    if as_json:
        names = ("user", "mechanism", "iterations")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        print_table(("USER", "MECHANISM", "ITERATIONS"), rows)


def _set_password(
    connection: Connection,
    name: str,
    password_file: IO[str] | None,
    iterations: int,
    mechanisms: tuple[str, ...],
) -> None:
    from confluent_kafka.admin import ScramCredentialInfo, UserScramCredentialUpsertion

    if password_file is None:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = password_file.readline().rstrip("\n")
    if not password:
        raise CommandError("The password is empty.")
    _alter(
        connection,
        [
            UserScramCredentialUpsertion(
                name, ScramCredentialInfo(_number(mechanism), iterations), password.encode()
            )
            for mechanism in mechanisms or _MECHANISMS
        ],
    )


def _alter(connection: Connection, alterations: list[Any]) -> None:
    for future in connection.admin.alter_user_scram_credentials(alterations).values():
        connection.result(future)


def _known(connection: Connection, name: str | None = None) -> Users:
    """Return all users; those that librdkafka is asked for by name must exist."""
    described = connection.result(connection.admin.describe_user_scram_credentials())
    return {
        user: {
            info.mechanism.name.replace("_", "-"): info.iterations
            for info in description.scram_credential_infos
        }
        for user, description in described.items()
        if name in (None, user)
    }


def _number(mechanism: str) -> Any:
    from confluent_kafka.admin import ScramMechanism

    return ScramMechanism[mechanism.upper().replace("-", "_")]
