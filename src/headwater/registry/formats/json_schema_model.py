"""What a JSON Schema allows, as a graph of nodes that can be compared.

A schema object is a set of keywords, each about one type of values. Keywords about one type make
one node; where keywords of several types stand together, all of their nodes have to hold, and a
`Combined` of them is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ALL, ANY, ONE = "allOf", "anyOf", "oneOf"


@dataclass(slots=True, eq=False)
class Node:
    """A part of a schema. This very class stands for what allows everything."""

    has_default: bool = False
    is_connect_bytes: bool = False  # a converter's mark: these count as equal whatever they hold

    @property
    def resolved(self) -> Node:
        """The node itself, or what a reference leads to."""
        return self


@dataclass(slots=True, eq=False)
class AlwaysTrue(Node):
    """`true`: allows everything, as an empty schema does."""


@dataclass(slots=True, eq=False)
class AlwaysFalse(Node):
    """`false`: allows nothing."""


@dataclass(slots=True, eq=False)
class Reference(Node):
    """`$ref`; the target is filled in when it has been read."""

    text: str = ""
    target: Node | None = None

    @property
    def resolved(self) -> Node:
        """What the chain of references ends at."""
        seen: set[int] = set()
        node: Node = self
        while isinstance(node, Reference) and node.target is not None:
            if id(node) in seen:
                return AlwaysFalse()  # a chain that leads nowhere: nothing can be said to fit it
            seen.add(id(node))
            node = node.target
        return node


@dataclass(slots=True, eq=False)
class Primitive(Node):
    """A boolean or null."""

    type: str = ""


@dataclass(slots=True, eq=False)
class String(Node):
    """A string."""

    max_length: int | None = None
    min_length: int | None = None
    pattern: str | None = None


@dataclass(slots=True, eq=False)
class Number(Node):
    """A number, or an integer only."""

    is_integer: bool = False
    maximum: Any = None
    minimum: Any = None
    exclusive_maximum: Any = None
    exclusive_minimum: Any = None
    multiple_of: Any = None


@dataclass(slots=True, eq=False)
class Const(Node):
    """Exactly one value."""

    value: str = ""


@dataclass(slots=True, eq=False)
class Enumeration(Node):
    """One of several values."""

    values: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class Combined(Node):
    """Several nodes of which all, at least one, or exactly one has to hold."""

    criterion: str = ALL
    members: list[Node] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # of the members, to tell equal ones


@dataclass(slots=True, eq=False)
class Not(Node):
    """What another node does not allow."""

    inner: Node = field(default_factory=Node)


@dataclass(slots=True, eq=False)
class Conditional(Node):
    """if, then, else: never compared, only told apart from everything else."""


@dataclass(slots=True, eq=False)
class Object(Node):
    """An object."""

    properties: dict[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    pattern_properties: dict[str, Node] = field(default_factory=dict)
    allows_additional: bool = True
    additional: Node | None = None
    unevaluated: Node | None = None
    property_dependencies: dict[str, frozenset[str]] = field(default_factory=dict)
    schema_dependencies: dict[str, Node] = field(default_factory=dict)
    max_properties: int | None = None
    min_properties: int | None = None


@dataclass(slots=True, eq=False)
class Array(Node):
    """An array."""

    items: Node | None = None  # all of them
    tuple_items: list[Node] = field(default_factory=list)
    allows_additional: bool = True
    additional: Node | None = None
    unevaluated: Node | None = None
    max_items: int | None = None
    min_items: int | None = None
    max_contains: int | None = None
    min_contains: int | None = None
    unique_items: bool = False


def accepts_all(node: Node) -> bool:
    """Return whether a node is an empty schema or `true`."""
    return type(node) in (Node, AlwaysTrue)
