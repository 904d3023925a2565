"""SET, DEFINE and what else changes a session and no stream."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.sql.tree.node import Node


@dataclass(frozen=True)
class SetProperty(Node):
    """`SET 'property' = 'value'`."""

    property: str
    value: str


@dataclass(frozen=True)
class UnsetProperty(Node):
    """`UNSET 'property'`."""

    property: str


@dataclass(frozen=True)
class DefineVariable(Node):
    """`DEFINE name = 'value'`: from here on `${name}` is the value."""

    name: str
    value: str


@dataclass(frozen=True)
class UndefineVariable(Node):
    """`UNDEFINE name`."""

    name: str


@dataclass(frozen=True)
class RunScript(Node):
    """`RUN SCRIPT 'file'`."""

    path: str


@dataclass(frozen=True)
class Spool(Node):
    """`SPOOL 'file'`, or without a path `SPOOL OFF`."""

    path: str | None = None
