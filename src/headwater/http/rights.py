"""Who may do what in a service: rules as data, read from a file, and decided like Kafka's ACLs.

    [{"principal": "User:ann", "resourceType": "SUBJECT", "patternType": "PREFIXED",
      "name": "orders-", "operation": "WRITE"}]

Without such a file everybody who was let in may do everything.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.config import ConfigDef, ConfigType
from headwater.http.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from headwater.http.principals import Principal
    from headwater.http.request import Request

SETTING = "authorization.rules.file"
ANYBODY = "User:*"
ALL_NAMES = "*"
"""As a name in a rule it stands for all resources; asked for, it is what covers all of them."""


class Operation(Enum):
    """What somebody may do; who may do one may also do those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


class ResourceType(Enum):
    """What rules are about."""

    SUBJECT = "subject"
    CONNECTOR = "connector"
    STREAM = "stream"  # or a table of SQL


class Rule(NamedTuple):
    """Somebody may, or may not, do something to the resources of a name or a prefix."""

    principal: str
    type: ResourceType
    name: str
    is_prefix: bool
    operation: Operation
    is_denial: bool = False

    def is_about(self, resource_type: ResourceType, name: str) -> bool:
        """Whether a resource is one of those meant."""
        if self.type is not resource_type:
            return False
        if self.is_prefix:
            return name.startswith(self.name)
        return self.name in (name, ALL_NAMES)


class Rights:
    """Decides by rules: nobody may do anything but who has a rule for it, and a DENY wins."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_principal: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_principal.setdefault(rule.principal, []).append(rule)

    @classmethod
    def from_file(cls, path: Path) -> Rights:
        """Read a file of rules; raises StartError, which says which rule is wrong, and how."""
        try:
            listed = json.loads(path.read_text("utf-8"))
        except OSError as failure:
            raise StartError(f"{SETTING}: {path}: {failure.strerror}") from None
        except ValueError as failure:
            raise StartError(f"{SETTING}: {path} is not JSON: {failure}") from None
        if not isinstance(listed, list):
            raise StartError(f"{SETTING}: {path} is no list of rules")
        return cls(_rule(path, number, fields) for number, fields in enumerate(listed, 1))

    def allow(
        self, principal: Principal, operation: Operation, resource_type: ResourceType, name: str
    ) -> bool:
        """Whether somebody may do something to a resource."""
        is_allowed = False
        for holder in (str(principal), ANYBODY):
            for rule in self._by_principal.get(holder, ()):
                if not rule.is_about(resource_type, name):
                    continue
                if rule.is_denial:
                    # Who may not read may not write either.
                    if rule.operation.value <= operation.value:
                        return False
                elif rule.operation.value >= operation.value:
                    is_allowed = True
        return is_allowed


def administers(resource_type: ResourceType) -> Callable[[Request], None]:
    """Return what raises HttpError 403 unless who is asking may do everything in a service."""

    def check(request: Request) -> None:
        request.require(Operation.ADMIN, resource_type, ALL_NAMES)

    return check


def rights_definition() -> ConfigDef:
    """Return the setting of a service that knows rights."""
    return ConfigDef(
        SETTING,
        ConfigType.STRING,
        None,
        "A file of rules, in JSON, that say who may do what; without it everybody who may come in"
        " may do everything.",
    )


_FIELDS = {"principal", "resourceType", "patternType", "name", "operation", "permission"}


def _rule(path: Path, number: int, fields: Any) -> Rule:
    def wrong(reason: str) -> StartError:
        return StartError(f"{SETTING}: {path}, rule {number}: {reason}")

    if not isinstance(fields, dict):
        raise wrong("it is no object")
    if unknown := fields.keys() - _FIELDS:
        raise wrong(f"unknown field {min(unknown)!r}; there are {', '.join(sorted(_FIELDS))}")

    def word(name: str, words: Iterable[str], default: str | None = None) -> str:
        value, known = fields.get(name, default), list(words)
        if not isinstance(value, str) or value.upper() not in known:
            raise wrong(f"{name} is {value!r}, and must be one of {', '.join(known)}")
        return value.upper()

    principal, name = fields.get("principal"), fields.get("name")
    if not isinstance(principal, str) or ":" not in principal:
        raise wrong(f"principal is {principal!r}, and must be written as User:NAME")
    if not isinstance(name, str) or not name:
        raise wrong("it has no name of a resource")
    return Rule(
        principal,
        ResourceType[word("resourceType", ResourceType.__members__)],
        name,
        word("patternType", ("LITERAL", "PREFIXED"), "LITERAL") == "PREFIXED",
        Operation[word("operation", Operation.__members__)],
        word("permission", ("ALLOW", "DENY"), "ALLOW") == "DENY",
    )
