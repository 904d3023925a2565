"""What `headwater up --secure` asks for and says: keys, and how to connect with them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.exposure import is_loopback, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.security.kit import SecurityKit
    from headwater.up.platform import Platform


def security_of(chosen: dict[str, Any], broker: Mapping[str, str]) -> SecurityKit | None:
    """Return the keys that are asked for, made if there are none; takes the options out."""
    is_secure, folder = chosen.pop("secure", None), chosen.pop("security", None)
    if not is_secure:
        if folder is not None:
            raise click.UsageError("--security DIR is for --secure.")
        return None
    from headwater.security.init import KitError
    from headwater.up.security import FOLDER, PLAIN_TEXT_SETTINGS, platform_kit
    from headwater.up.settings import PlatformSettings, default_data

    if chosen.get("engine") == "kafka":
        raise click.UsageError("--secure is for the embedded broker, and not for --engine kafka.")
    if chosen.get("bootstrap_server"):
        raise click.UsageError(
            "--secure is for the embedded broker. For a cluster elsewhere give its client "
            "properties with --command-config, and services their own certificates."
        )
    for name in PLAIN_TEXT_SETTINGS:
        if name in broker:
            raise click.UsageError(
                f"--secure: with {name} the broker would listen in plain text. Its metrics are to "
                "be had from the monitor (--with monitor)."
            )
    folder = folder or (chosen.get("data") or default_data()) / FOLDER
    try:
        return platform_kit(folder, chosen.get("host") or PlatformSettings.host)
    except KitError as failure:
        raise CommandError(str(failure)) from None


def check_platform_exposure(chosen: Mapping[str, Any]) -> None:
    """Refuse a platform that anybody on the network could use.

    Services on a cluster elsewhere look at their own settings.
    """
    host = chosen.get("host")
    is_theirs = chosen.get("security") is not None or chosen.get("bootstrap_server")
    if host is None or is_theirs or chosen.get("insecure") or is_loopback(host):
        return
    refuse(f"on {host}", "Use --secure, which makes keys and users")


def how_to_connect(platform: Platform, kit: SecurityKit) -> Iterator[str]:
    """Return lines that say so; passwords are in files, and stay there."""
    yield ""
    yield f"Keys and passwords: {kit.folder}; only you can read them. Connect with:"
    for user in sorted(path.name for path in (kit.folder / "users").iterdir()):
        properties = shlex.quote(str(kit.user(user).java))
        server = platform.bootstrap_server
        yield f"  headwater topics list -b {server} --command-config {properties}"
    for service in platform.services:
        for place in service.endpoints:
            if place.address.startswith("https://"):
                authority = shlex.quote(str(kit.authority))
                yield f"  curl --cacert {authority} --user admin {place.address}"
