"""Commands: the statements that change something, as ksqlDB keeps them in its command topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from headwater.sql.tree.statements import changes
from headwater.sql.tree.statements.changes import (
    AlterSource,
    AlterSystem,
    DropNamed,
    InsertSelect,
)
from headwater.sql.tree.statements.control import ControlQuery, QueryAction
from headwater.sql.tree.statements.creation import CreateAsSelect, CreateSource, CreateType
from headwater.topic_state.errors import InvalidRecordError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.sql.tree.statements.statement import Statement

# The version of the format that ksqlDB 7 and later write.
_VERSION = 15

CHANGES = (
    CreateSource,
    CreateAsSelect,
    CreateType,
    InsertSelect,
    changes.DropSource,
    DropNamed,
    AlterSource,
    AlterSystem,
    ControlQuery,
)
"""The statements that become commands."""


@dataclass(frozen=True)
class CommandId:
    """What a command is about, such as stream/`ORDERS`/create."""

    type: str
    entity: str
    action: str

    def __str__(self) -> str:
        return f"{self.type}/{self.entity}/{self.action}"

    def key(self) -> bytes:
        """Return the key of its record."""
        return msgspec.json.encode(str(self))

    @classmethod
    def of(cls, statement: Statement) -> CommandId:
        """Return the id of a statement that changes something."""
        match statement:
            case CreateSource(kind, name) | CreateAsSelect(kind, name):
                return cls(kind.value.lower(), f"`{name}`", "create")
            case InsertSelect(target):
                return cls("stream", f"`{target}`", "create")
            case changes.DropSource(kind, name):
                return cls(kind.value.lower(), f"`{name}`", "drop")
            case AlterSource(kind, name):
                return cls(kind.value.lower(), f"`{name}`", "alter")
            case CreateType(name):
                return cls("type", name, "create")
            case DropNamed(kind, name):
                return cls(kind.value.lower(), name, "drop")
            case AlterSystem(name):
                return cls("cluster", name, "alter")
            case ControlQuery(QueryAction.TERMINATE, query_id):
                return cls("terminate", query_id or "ALL", "execute")
            case ControlQuery(action, query_id):
                return cls(action.value.lower(), query_id or "ALL", "execute")
            case _:
                raise AssertionError(f"{type(statement).__name__} changes nothing")

    @classmethod
    def from_key(cls, key: bytes) -> CommandId:
        """Read a record's key; raises InvalidRecordError."""
        try:
            text = msgspec.json.decode(key, type=str)
        except (msgspec.DecodeError, msgspec.ValidationError) as failure:
            raise InvalidRecordError(f"its key is none of a command: {failure}") from None
        kind, _, rest = text.partition("/")
        entity, _, action = rest.rpartition("/")
        if not entity or not action:
            raise InvalidRecordError(f"its key {text!r} is none of a command")
        return cls(kind, entity, action)


@dataclass(frozen=True)
class Command:
    """A statement, without its semicolon, and the properties that were set when it was sent."""

    id: CommandId
    statement: str
    properties: Mapping[str, str] = field(default_factory=dict)

    def value(self) -> bytes:
        """Return the value of its record."""
        return msgspec.json.encode(
            {
                "statement": f"{self.statement};",
                "streamsProperties": dict(self.properties),
                "originalProperties": {},
                "plan": None,
                "version": _VERSION,
            }
        )

    @classmethod
    def from_record(cls, key: bytes, value: bytes) -> Command:
        """Read a record; raises InvalidRecordError."""
        id_ = CommandId.from_key(key)
        try:
            read = msgspec.json.decode(value, type=_Value)
        except (msgspec.DecodeError, msgspec.ValidationError) as failure:
            raise InvalidRecordError(f"its value is no command: {failure}") from None
        properties = {name: str(given) for name, given in read.properties.items()}
        return cls(id_, read.statement.rstrip().rstrip(";"), properties)


class _Value(msgspec.Struct):
    statement: str
    properties: dict[str, str | int | float | bool] = msgspec.field(
        name="streamsProperties", default_factory=dict
    )
