"""Who may do what in the console: viewers look, editors change, admins say who may do what."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

EVERYBODY = "*"


class Role(IntEnum):
    """What somebody is; each may do what those before it may."""

    VIEWER = 1
    EDITOR = 2
    ADMIN = 3


class Action(Enum):
    """All that changes something: what it is done to, and who may."""

    CREATE_TOPIC = ("TOPIC", "create", Role.EDITOR)
    ALTER_TOPIC = ("TOPIC", "change the settings of", Role.EDITOR)
    PURGE_TOPIC = ("TOPIC", "purge", Role.EDITOR)
    DELETE_TOPIC = ("TOPIC", "delete", Role.EDITOR)
    PRODUCE = ("TOPIC", "produce to", Role.EDITOR)
    RESET_GROUP = ("GROUP", "reset", Role.EDITOR)
    DELETE_GROUP = ("GROUP", "delete", Role.EDITOR)
    REGISTER_SCHEMA = ("SUBJECT", "register a schema for", Role.EDITOR)
    CREATE_CONNECTOR = ("CONNECTOR", "create", Role.EDITOR)
    ALTER_CONNECTOR = ("CONNECTOR", "configure", Role.EDITOR)
    CONTROL_CONNECTOR = ("CONNECTOR", "start or stop", Role.EDITOR)
    RESET_CONNECTOR = ("CONNECTOR", "reset the offsets of", Role.EDITOR)
    DELETE_CONNECTOR = ("CONNECTOR", "delete", Role.EDITOR)
    RUN_STATEMENT = ("STATEMENT", "run", Role.EDITOR)
    DROP_SOURCE = ("STREAM", "drop", Role.EDITOR)
    CONTROL_QUERY = ("QUERY", "start or stop", Role.EDITOR)
    ADD_ACL = ("ACL", "add", Role.ADMIN)
    REMOVE_ACL = ("ACL", "remove", Role.ADMIN)
    SET_PASSWORD = ("USER", "set the password of", Role.ADMIN)
    DELETE_USER = ("USER", "delete", Role.ADMIN)
    ALTER_QUOTA = ("QUOTA", "change", Role.ADMIN)
    START_NODE = ("NODE", "start", Role.ADMIN)
    STOP_NODE = ("NODE", "stop", Role.ADMIN)

    def __init__(self, resource_type: str, verb: str, role: Role) -> None:
        self.resource_type = resource_type
        self.verb = verb
        self.role = role

    @property
    def words(self) -> str:
        """It in words, for which a resource is still to be named."""
        return f"{self.verb} {self.resource_type.lower()}"


class Roles:
    """Knows users by their names, as they stand in the users file; `*` is everybody.

    >>> roles = Roles(admins=["ann"], editors=["bob"])
    >>> roles.of("User:ann").name, roles.of("User:bob").name, roles.of("User:eve").name
    ('ADMIN', 'EDITOR', 'VIEWER')

    Where nobody is named, everybody who may come in may do everything.
    """

    def __init__(self, admins: Collection[str] = (), editors: Collection[str] = ()) -> None:
        self._admins = frozenset(admins)
        self._editors = frozenset(editors)

    @property
    def are_given(self) -> bool:
        """Whether people differ in what they may do."""
        return bool(self._admins or self._editors)

    def of(self, principal: str) -> Role:
        """Return what a principal, `User:ann`, is."""
        name = principal.partition(":")[2]
        if not self.are_given or self._admins & {name, EVERYBODY}:
            return Role.ADMIN
        return Role.EDITOR if self._editors & {name, EVERYBODY} else Role.VIEWER
