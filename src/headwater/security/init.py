"""Makes a kit: an authority, certificates, users and their client properties, all at once."""

from __future__ import annotations

import re
import secrets
import shutil
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.security.authority import Authority
from headwater.security.bootstrap import Right, bootstrap_text
from headwater.security.kit import ADMIN, SecurityKit, UserFiles
from headwater.security.owner_files import (
    make_folder,
    replace_for_owner,
    sync_folder,
    write_for_owner,
)
from headwater.security.password_hash import hash_password
from headwater.security.properties_text import (
    LISTENER,
    PLAIN,
    SCRAM,
    broker_settings,
    java_properties,
    librdkafka_properties,
    properties_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DAYS = 825
"""How long certificates last: more is refused by some browsers."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class KitError(Exception):
    """A kit cannot be made or used; the message says why, and what to do."""


@dataclass(frozen=True)
class KitPlan:
    """What is wanted of a kit."""

    hosts: tuple[str, ...] = ()
    """Names and addresses by which clients reach this machine, besides those that it knows."""
    users: tuple[str, ...] = ()
    """Besides the super user."""
    rights: tuple[Right, ...] = ()
    days: int = DAYS
    super_users: tuple[str, ...] = field(default=(ADMIN,))


def make_kit(folder: Path, plan: KitPlan) -> SecurityKit:
    """Make a kit in a folder that is not there yet, or is empty; raises KitError, OSError.

    It is made beside it and moved there when it is whole: what a crash leaves is no kit.
    """
    folder = folder.absolute()
    users = tuple(dict.fromkeys((ADMIN, *plan.users)))
    for name in users:
        check_name(name)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise KitError(f"{folder} is there, and no folder. Choose another one")
    if folder.is_dir() and any(folder.iterdir()):
        raise KitError(
            f"{folder} is there and not empty. Keys that somebody uses are not overwritten: choose "
            "another folder, or move this one away"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of one that was killed
    make_folder(partial)
    try:
        _fill(SecurityKit(partial), SecurityKit(folder), users, plan)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    sync_folder(folder.parent)
    return SecurityKit(folder)


def add_service(kit: SecurityKit, name: str, days: int = DAYS) -> UserFiles:
    """Return a service's files, and make them if they are not there; raises KitError, OSError."""
    check_name(name)
    files = kit.service(name)
    if files.folder.is_dir():
        return files
    authority = Authority.load(kit.authority.read_text(), kit.authority_key.read_text())
    files.folder.parent.mkdir(mode=0o700, exist_ok=True)
    partial = UserFiles(files.folder.with_name(f".{name}.partial"))
    shutil.rmtree(partial.folder, ignore_errors=True)
    password = _password()
    _write_user(_Made(authority, kit, days), partial, files, password, PLAIN)
    for users in (kit.http_users, kit.http_admins):
        replace_for_owner(users, users.read_text() + http_users({name: password}))
    # At last: one that was killed before makes all of it anew, and the last line of a name counts.
    partial.folder.replace(files.folder)
    return files


def check_name(name: str) -> None:
    """Raise KitError for what cannot be a folder, a principal and a name in JAAS at once."""
    if _NAME.fullmatch(name) is None:
        raise KitError(f"'{name}' is no name for a user: up to 63 of a-z, A-Z, 0-9, '.', '_', '-'")


def known_hosts(hosts: Sequence[str] = ()) -> list[str]:
    """Return the names and addresses of this machine, and the given ones."""
    return list(dict.fromkeys(("localhost", "127.0.0.1", "::1", socket.gethostname(), *hosts)))


@dataclass(frozen=True)
class _Made:
    authority: Authority
    kit: SecurityKit
    """Where it will be: what is written refers to that."""
    days: int


def _fill(partial: SecurityKit, kit: SecurityKit, users: Sequence[str], plan: KitPlan) -> None:
    authority = Authority.create("Headwater authority")
    made = _Made(authority, kit, plan.days)
    hosts = known_hosts(plan.hosts)
    broker = authority.issue("broker", plan.days, hosts)
    services = authority.issue("services", plan.days, hosts)
    passwords = {name: _password() for name in users}
    make_folder(partial.folder / "users")
    for name, password in passwords.items():
        _write_user(made, partial.user(name), kit.user(name), password, SCRAM)
    settings = {
        "listeners": f"{LISTENER}://127.0.0.1:9092",
        **broker_settings(kit, plan.super_users),
    }
    for path, content in {
        partial.authority_key: authority.own.key_pem,
        partial.broker_store: broker.key_pem + broker.certificate_pem,
        partial.service_certificate: services.certificate_pem,
        partial.service_key: services.key_pem,
        partial.http_users: http_users(passwords),
        partial.http_admins: http_users({ADMIN: passwords[ADMIN]}),
        partial.beginning: bootstrap_text(passwords, plan.rights),
        partial.broker_properties: properties_text(settings, "headwater broker --config"),
        # The last one: where it is, all is.
        partial.authority: authority.own.certificate_pem,
    }.items():
        write_for_owner(path, content)


def http_users(passwords: Mapping[str, str]) -> str:
    """Return a file of users for basic authentication, with hashes."""
    lines = [f"{n}: {hash_password(p, secrets.token_bytes(16))}\n" for n, p in passwords.items()]
    return "".join(lines)


def _write_user(
    made: _Made, partial: UserFiles, files: UserFiles, password: str, mechanism: str
) -> None:
    issued = made.authority.issue(files.name, made.days)
    java = java_properties(made.kit, files, password, mechanism)
    librdkafka = librdkafka_properties(made.kit, files, password, mechanism)
    make_folder(partial.folder)
    contents: dict[Path, str | bytes] = {
        partial.certificate: issued.certificate_pem,
        partial.key: issued.key_pem,
        partial.store: issued.pkcs12(files.name, password, made.authority),
        partial.secrets: properties_text({"password": password}, f"of {files.name}"),
        partial.java: properties_text(java, "for Java and for headwater --command-config"),
        partial.librdkafka: properties_text(librdkafka, "for librdkafka, kcat -F"),
    }
    for path, content in contents.items():
        write_for_owner(path, content)


def _password() -> str:
    return secrets.token_urlsafe(24)
