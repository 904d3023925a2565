"""Kinds of option values that several commands take: NAME=VALUE, escapes and points in time."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import click

from headwater.clients.points_in_time import UNITS_MS, parse_time
from headwater.clients.start_position import InvalidPositionError, StartPosition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


MAX_PARTITION = (1 << 31) - 1


def escaped(text: str) -> bytes:
    r"""An option's type: text in which \t, \n and the like stand for what shells make hard."""
    try:
        return unescape(text)
    except ValueError as failure:
        raise click.BadParameter(str(failure)) from None


def point_in_time(text: str) -> int:
    """An option's type: epoch milliseconds, an ISO date, or how long ago it was (15m, 2h, 1d)."""
    try:
        return parse_time(text, int(time.time() * 1000))
    except ValueError as failure:
        raise click.BadParameter(str(failure)) from None


def start_position(text: str) -> StartPosition:
    """An option's type: where reading starts."""
    try:
        return StartPosition.parse(text)
    except InvalidPositionError as failure:
        raise click.BadParameter(str(failure)) from None


def duration(text: str) -> int:
    """An option's type: how long, such as 500ms, 30s, 10m, 2h or 1d, in milliseconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if match is None:
        raise click.BadParameter(f"'{text}' is no duration such as 500ms, 30s, 10m, 2h or 1d")
    return int(float(match[1]) * UNITS_MS[match[2]])


property_option: Callable[[Any], Any] = click.option(
    "--property",
    "properties",
    metavar="NAME=VALUE",
    multiple=True,
    callback=lambda _context, _option, values: _resolved(parse_assignments(values, "--property")),
    help="Any client setting of librdkafka; may be given several times. Secrets by reference, as in"
    " '${file:PATH:KEY}' or '${env:NAME}'.",
)


def parse_assignments(assignments: Iterable[str], option: str) -> dict[str, str]:
    """Split NAME=VALUE options; the last one wins, as on most command lines."""
    settings: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(
                f"'{assignment}' is not of the form NAME=VALUE", param_hint=option
            )
        settings[name.strip()] = value.strip()
    return settings


def _resolved(settings: dict[str, str]) -> dict[str, str]:
    from headwater.config.references import References, UnresolvedReferenceError

    try:
        return References().resolve_all(settings)
    except UnresolvedReferenceError as failure:
        raise click.BadParameter(str(failure), param_hint="--property") from None


def unescape(text: str) -> bytes:
    r"""Replace \t, \n, \r, \0, \\ and \xHH; anything else after a backslash is refused."""

    def replace(match: re.Match[bytes]) -> bytes:
        escaped = match[1].decode()
        if escaped in _ESCAPES:
            return _ESCAPES[escaped]
        if re.fullmatch(r"x[0-9a-fA-F]{2}", escaped):
            return bytes.fromhex(escaped[1:])
        raise ValueError(rf"'\{escaped[:1]}' is unknown; \t, \n, \r, \0, \\ and \xHH are known")

    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.|$)", replace, text.encode("utf-8", "surrogateescape"))


_ESCAPES = {"t": b"\t", "n": b"\n", "r": b"\r", "0": b"\0", "\\": b"\\"}
