"""Who may do what, and who may log in: ACLs and SCRAM users, as far as the cluster tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.raw.acls import Acl, NoAuthorizerError, list_acls
from headwater.console.model.paging import Page, Wanted, page_of
from headwater.console.model.security.acl_matrix import matrix_of
from headwater.console.model.security.permissions import Permissions

if TYPE_CHECKING:
    from headwater.console.model.cluster import Cluster
    from headwater.console.model.security.acl_matrix import AclMatrix

RESOURCES = ("TOPIC", "GROUP", "TRANSACTIONAL_ID", "CLUSTER")
PATTERNS = ("LITERAL", "PREFIXED")
OPERATIONS = (
    *("ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
)
PERMISSIONS = ("ALLOW", "DENY")
CLUSTER_NAME = "kafka-cluster"
_SUPER_USERS, _EVERYONE = "super.users", "allow.everyone.if.no.acl.found"
_MECHANISMS = ("SCRAM_SHA_256", "SCRAM_SHA_512")
_ITERATIONS = 4096


class User(NamedTuple):
    """Somebody who may log in by SCRAM."""

    name: str
    mechanisms: tuple[str, ...]


class Security:
    """All methods block, and raise ClientError, NoAuthorizerError and KafkaException."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def has_authorizer(self) -> bool:
        """Whether rights are asked for at all."""
        try:
            list_acls(self._cluster.raw)
        except NoAuthorizerError:
            return False
        return True

    def page(self, wanted: Wanted) -> Page[Acl]:
        """Return a page of ACLs."""
        return page_of(
            list_acls(self._cluster.raw),
            wanted,
            " ".join,
            {"principal": lambda acl: acl.principal, "resource": lambda acl: acl.name},
        )

    def matrix(self, wanted: Wanted) -> AclMatrix:
        """Return a part of the ACLs as a matrix."""
        return matrix_of(list_acls(self._cluster.raw), wanted)

    def permissions(self) -> Permissions:
        """Return all that decides who may do what."""
        settings = self._settings()
        users, everyone = settings.get(_SUPER_USERS), settings.get(_EVERYONE)
        return Permissions(
            list_acls(self._cluster.raw),
            # Brokers that have none say nothing of it, and so do those that do not tell everybody.
            frozenset(each.strip() for each in users.split(";") if each.strip()) if users else None,
            None if everyone is None else everyone.lower() == "true",
        )

    def _settings(self) -> dict[str, str]:
        """Return a broker's settings; none where it does not tell them to us."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import ConfigResource

        connection = self._cluster.connection
        broker, *_ = self._cluster.raw.brokers()
        resource = ConfigResource(ConfigResource.Type.BROKER, str(broker.id))
        (future,) = connection.admin.describe_configs([resource]).values()
        try:
            entries = connection.result(future)
        except KafkaException:
            return {}
        return {name: each.value for name, each in entries.items() if each.value is not None}

    def add(self, acl: Acl) -> None:
        """Add an ACL; raises ValueError for one that makes no sense."""
        if not acl.principal.partition(":")[2]:
            raise ValueError(f"'{acl.principal}' is no principal, such as User:ann or User:*")
        if acl.resource_type == "CLUSTER":
            acl = acl._replace(name=CLUSTER_NAME, pattern_type="LITERAL")
        if not acl.name:
            raise ValueError("say to what: a name, or * for all")
        connection = self._cluster.connection
        for future in connection.admin.create_acls([acl.binding()]).values():
            connection.result(future)

    def remove(self, acl: Acl) -> int:
        """Remove an ACL, and return how many were there."""
        connection = self._cluster.connection
        futures = connection.admin.delete_acls([acl.filter()]).values()
        return sum(len(connection.result(future)) for future in futures)

    def users(self) -> list[User]:
        """Return who has a password for SCRAM."""
        connection = self._cluster.connection
        found = connection.result(connection.admin.describe_user_scram_credentials())
        return sorted(
            User(
                name,
                tuple(
                    each.mechanism.name.replace("_", "-")
                    for each in description.scram_credential_infos
                ),
            )
            for name, description in found.items()
        )

    def set_password(self, name: str, password: str) -> None:
        """Let a user log in with this password, by all mechanisms."""
        from confluent_kafka.admin import (
            ScramCredentialInfo,
            ScramMechanism,
            UserScramCredentialUpsertion,
        )

        if not name or not password:
            raise ValueError("a user has a name and a password")
        self._alter(
            [
                UserScramCredentialUpsertion(
                    name,
                    ScramCredentialInfo(ScramMechanism[each], _ITERATIONS),
                    password.encode(),
                )
                for each in _MECHANISMS
            ]
        )

    def delete_user(self, name: str) -> None:
        """Let a user log in no more; who is logged in stays so."""
        from confluent_kafka.admin import ScramMechanism, UserScramCredentialDeletion

        known = [user for user in self.users() if user.name == name]
        self._alter(
            [
                UserScramCredentialDeletion(name, ScramMechanism[each.replace("-", "_")])
                for user in known
                for each in user.mechanisms
            ]
        )

    def _alter(self, alterations: list[object]) -> None:
        if not alterations:
            raise ValueError("there is no such user")
        connection = self._cluster.connection
        for future in connection.admin.alter_user_scram_credentials(alterations).values():
            connection.result(future)
