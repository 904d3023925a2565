"""A topology out of Kafka Streams' description of one, which ksqlDB's EXPLAIN gives as well."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NODE = re.compile(r"(Source|Processor|Sink): (\S+) \((\w+): (.*)\)$")
_INTO = re.compile(r"--> (.*)$")


@dataclass
class Node:
    """A source, an operator or a sink."""

    kind: str
    name: str
    what: str
    """The topics of a source or sink, the stores of an operator."""
    into: list[str] = field(default_factory=list)
    title: str = ""
    """What it does in words, where its name does not say it."""
    figures: str = ""
    """What is known of it now."""

    @property
    def label(self) -> str:
        """The topic, or what the operator does.

        >>> Node("Processor", "KSTREAM-AGGREGATE-0000000001", "").label
        'aggregate'
        """
        if self.kind != "Processor":
            return self.what or self.title
        words = self.name.removeprefix("KSTREAM-").removeprefix("KTABLE-").split("-")
        return " ".join(word for word in words if not word.isdigit()).lower()


def topology_of(text: str) -> list[Node]:
    """Return the nodes of a description, in its order; none where it is no description.

    >>> text = "Source: A (topics: [a])\\n  --> B\\nSink: B (topic: b)"
    >>> [(node.label, node.into) for node in topology_of(text)]
    [('a', ['B']), ('b', [])]
    """
    nodes: list[Node] = []
    for line in text.splitlines():
        stripped = line.strip()
        if found := _NODE.match(stripped):
            nodes.append(Node(found[1], found[2], found[4].strip("[]")))
        elif nodes and (found := _INTO.match(stripped)) and found[1] != "none":
            nodes[-1].into += [each.strip() for each in found[1].split(",")]
    return nodes


def layers_of(nodes: list[Node]) -> list[list[Node]]:
    """Return the nodes by how far they are from a source, at the longest way."""
    by_name = {node.name: node for node in nodes}
    depth = dict.fromkeys(by_name, 0)
    # As often as the longest way could be: a description that goes in circles ends as well.
    for _ in nodes:
        for node in nodes:
            for name in node.into:
                if name in depth:
                    depth[name] = min(max(depth[name], depth[node.name] + 1), len(nodes) - 1)
    layers: list[list[Node]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node.name]].append(node)
    return [layer for layer in layers if layer]
