"""`headwater delegation-tokens`: make, renew, end and list them, as kafka-delegation-tokens."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.output import json_option, note, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headwater.clients.connection import Connection

_COLUMNS = (
    "TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE",
)  # fmt: skip
_VERSION, _CHANGE_VERSION = 3, 2


@click.group("delegation-tokens", cls=LazyGroup)
def delegation_tokens() -> None:
    """Make, renew, end and list delegation tokens.

    A token lets a program log in by SCRAM as somebody, for some time, without that somebody's
    password: with the token's id as user and its HMAC as password. The broker makes them if
    delegation.token.secret.key is set, for clients that have logged in; see docs/security.md.
    """


def hmac_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says which token is meant."""
    return click.option(
        "--hmac-file",
        metavar="FILE",
        type=click.File("r"),
        help="Read the token's HMAC from the first line of a file, or of standard input (-);"
        " without it, it is asked for. It is never an option: everybody on this machine could"
        " read it.",
    )(command)


@delegation_tokens.command(
    epilog="""\b
Examples:
  headwater delegation-tokens create --command-config ann.properties
  headwater delegation-tokens create --renewer-principal User:scheduler \\
      --max-life-time-period 3600000 --command-config ann.properties
  headwater delegation-tokens create --owner-principal User:bob --command-config ann.properties"""
)
@click.option("--owner-principal", metavar="User:NAME", help="Who may log in with it, if not you.")
@click.option(
    "--renewer-principal",
    "renewers",
    metavar="User:NAME",
    multiple=True,
    help="Who else may renew it.",
)
@click.option(
    "--max-life-time-period",
    metavar="MS",
    default=-1,
    show_default=True,
    help="How long it can be renewed at most; -1 is delegation.token.max.lifetime.ms.",
)
@json_option
@connection_options
def create(
    connection: Connection,
    owner_principal: str | None,
    renewers: tuple[str, ...],
    max_life_time_period: int,
    as_json: bool,
) -> None:
    """Make a token, and print it with its HMAC, which is its password."""
    owner = _principal(owner_principal) if owner_principal else {}
    body = {
        "owner_principal_type": owner.get("principal_type"),
        "owner_principal_name": owner.get("principal_name"),
        "renewers": [_principal(renewer) for renewer in renewers],
        "max_lifetime": max_life_time_period,
    }
    answer = _ask(connection, "CREATE", _VERSION, body)
    _print([(answer, tuple(renewers))], as_json)
    note(f"Created the delegation token {answer.token_id}.")


@delegation_tokens.command(
    epilog="""\b
Examples:
  headwater delegation-tokens renew --hmac-file token.txt --command-config ann.properties"""
)
@hmac_option
@click.option(
    "--renew-time-period",
    metavar="MS",
    default=-1,
    show_default=True,
    help="How long it lasts from now on; -1 is delegation.token.expiry.time.ms.",
)
@connection_options
def renew(connection: Connection, hmac_file: IO[str] | None, renew_time_period: int) -> None:
    """Let a token expire later."""
    body = {"hmac": _hmac(hmac_file), "renew_period": renew_time_period}
    answer = _ask(connection, "RENEW", _CHANGE_VERSION, body)
    note(f"Renewed the token; it expires at {_text_of(answer.expiry_timestamp)}.")


@delegation_tokens.command(
    epilog="""\b
Examples:
  headwater delegation-tokens expire --hmac-file token.txt --command-config ann.properties
  headwater delegation-tokens expire --hmac-file token.txt --expiry-time-period 60000 \\
      --command-config ann.properties"""
)
@hmac_option
@click.option(
    "--expiry-time-period",
    metavar="MS",
    default=-1,
    show_default=True,
    help="How long it lasts from now on; -1 ends it at once.",
)
@connection_options
def expire(connection: Connection, hmac_file: IO[str] | None, expiry_time_period: int) -> None:
    """Let a token expire earlier, or end it at once."""
    body = {"hmac": _hmac(hmac_file), "expiry_time_period": expiry_time_period}
    answer = _ask(connection, "EXPIRE", _CHANGE_VERSION, body)
    if expiry_time_period < 0:
        note("Ended the token.")
    else:
        note(f"The token expires at {_text_of(answer.expiry_timestamp)}.")


@delegation_tokens.command(
    epilog="""\b
Examples:
  headwater delegation-tokens describe --command-config ann.properties
  headwater delegation-tokens describe --owner-principal User:bob --json \\
      --command-config ann.properties"""
)
@click.option(
    "--owner-principal",
    "owners",
    metavar="User:NAME",
    multiple=True,
    help="Only tokens that these own or may renew; may be given several times.",
)
@json_option
@connection_options
def describe(connection: Connection, owners: tuple[str, ...], as_json: bool) -> None:
    """List your tokens, and those that you have a right to see, with their HMACs."""
    body = {"owners": [_principal(owner) for owner in owners] or None}
    answer = _ask(connection, "DESCRIBE", _VERSION, body)
    _print(
        (
            (token, tuple(f"{r.principal_type}:{r.principal_name}" for r in token.renewers))
            for token in answer.tokens
        ),
        as_json,
    )


def _ask(connection: Connection, verb: str, version: int, body: Mapping[str, Any]) -> Any:
    from headwater.clients.raw.admin import RawAdmin, error_name
    from headwater.protocol.api_keys import ApiKey

    answer = RawAdmin(connection).ask_any(ApiKey[f"{verb}_DELEGATION_TOKEN"], version, body)
    if answer.error_code:
        name = error_name(answer.error_code)
        raise CommandError(f"The broker refused it: {name}. {_ADVICE.get(name, '')}".strip())
    return answer


_ADVICE = {
    "DELEGATION_TOKEN_AUTH_DISABLED": "It needs the setting delegation.token.secret.key.",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": "Log in with a password or a certificate: tokens are"
    " not for clients in plain text, without a certificate, or with another token.",
    "DELEGATION_TOKEN_OWNER_MISMATCH": "Only its owner and its renewers may do that.",
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED": "It takes CreateTokens on that user.",
}


def _principal(text: str) -> dict[str, str]:
    kind, colon, name = text.strip().partition(":")
    if not colon or not name:
        raise click.BadParameter(f"'{text}' has no type; write it as User:{text}")
    return {"principal_type": kind, "principal_name": name}


def _hmac(given: IO[str] | None) -> bytes:
    text = click.prompt("HMAC", hide_input=True) if given is None else given.readline()
    try:
        return base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        raise CommandError("That is no HMAC: it is not base64.") from None


def _print(tokens: Iterable[tuple[Any, tuple[str, ...]]], as_json: bool) -> None:
    rows = [
        (
            token.token_id,
            base64.b64encode(token.hmac).decode(),
            f"{token.principal_type}:{token.principal_name}",
            f"{token.token_requester_principal_type}:{token.token_requester_principal_name}",
            ",".join(renewers),
            *map(_text_of, (token.issue_timestamp, token.expiry_timestamp, token.max_timestamp)),
        )
        for token, renewers in tokens
    ]
    if as_json:
        names = [column.lower() for column in _COLUMNS]
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        print_table(_COLUMNS, rows)


def _text_of(time: datetime | int) -> str:
    moment = time if isinstance(time, datetime) else datetime.fromtimestamp(time / 1000, UTC)
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
