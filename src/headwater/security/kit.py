"""A folder with everything that a secured platform needs: which file is what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ADMIN = "admin"
"""The super user that every kit has."""


@dataclass(frozen=True)
class UserFiles:
    """What belongs to one user: give it the whole folder."""

    folder: Path

    @property
    def name(self) -> str:
        """The user's name, which is the folder's."""
        return self.folder.name

    @property
    def certificate(self) -> Path:
        """Its certificate, in PEM format."""
        return self.folder / "certificate.pem"

    @property
    def key(self) -> Path:
        """The certificate's key, in PEM format, without a password."""
        return self.folder / "key.pem"

    @property
    def store(self) -> Path:
        """Both, for browsers and Java; its password is the user's."""
        return self.folder / "keystore.p12"

    @property
    def secrets(self) -> Path:
        """The password, as a properties file that references lead to."""
        return self.folder / "secrets.properties"

    @property
    def password_reference(self) -> str:
        """What stands in settings for the password."""
        return f"${{file:{self.secrets}:password}}"

    @property
    def java(self) -> Path:
        """Client properties for Java's clients and for Headwater's commands."""
        return self.folder / "java.properties"

    @property
    def librdkafka(self) -> Path:
        """Client properties for librdkafka and what is built on it, such as kcat."""
        return self.folder / "librdkafka.properties"


@dataclass(frozen=True)
class SecurityKit:
    """The folder that `headwater security init` makes; only its owner can read it."""

    folder: Path

    @property
    def exists(self) -> bool:
        """Whether it is there; a kit is there as a whole or not at all."""
        return self.authority.is_file()

    @property
    def authority(self) -> Path:
        """The authority's certificate: what clients have to trust."""
        return self.folder / "authority.pem"

    @property
    def authority_key(self) -> Path:
        """What the authority signs with; needed for new certificates only."""
        return self.folder / "authority.key"

    @property
    def broker_store(self) -> Path:
        """The broker's key and certificate, in one PEM file."""
        return self.folder / "broker.pem"

    @property
    def broker_properties(self) -> Path:
        """Settings for a broker that is started alone: `headwater broker --config`."""
        return self.folder / "broker.properties"

    @property
    def service_certificate(self) -> Path:
        """The certificate of all HTTP services."""
        return self.folder / "services.pem"

    @property
    def service_key(self) -> Path:
        """Its key."""
        return self.folder / "services.key"

    @property
    def http_users(self) -> Path:
        """All users, for HTTP services, with hashes of their passwords."""
        return self.folder / "users.txt"

    @property
    def http_admins(self) -> Path:
        """The super user and the services, for what nobody else may use."""
        return self.folder / "admins.txt"

    @property
    def beginning(self) -> Path:
        """The users and ACLs that a new broker begins with."""
        return self.folder / "bootstrap.json"

    def user(self, name: str) -> UserFiles:
        """Return the files of a person or a program."""
        return UserFiles(self.folder / "users" / name)

    def service(self, name: str) -> UserFiles:
        """Return the files of a service of the platform, which logs in with PLAIN."""
        return UserFiles(self.folder / "services" / name)
