"""A plan as a Mermaid flowchart: a box for each stage, topics as pills, stores as cylinders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.pictures.topology import Entry, SubTopology, topology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.splitting.stages import Stage


def mermaid(stages: Sequence[Stage]) -> str:
    """Return the text of the flowchart."""
    lines = ["flowchart LR"]
    topics: dict[str, str] = {}
    edges: list[str] = []
    for number, part in enumerate(topology(stages)):
        lines.append(f"  subgraph s{number}[{_label(part.stage.name)}]")
        lines += _operators(number, part)
        lines.append("  end")
        edges += _topic_edges(number, part, topics)
    lines += [f"  {name}([{_label(topic)}])" for topic, name in topics.items()]
    return "\n".join([*lines, *edges, ""])


def _operators(number: int, part: SubTopology) -> list[str]:
    names = {entry.id: f"s{number}n{index}" for index, entry in enumerate(part.entries)}
    repartitioning = {entry.id for entry in part.entries if entry.repartitions}
    lines = []
    for entry in part.entries:
        name = names[entry.id]
        lines.append(f"    {name}[{_label(entry.id, entry.summary)}]")
        for index, store in enumerate(entry.stores):
            lines.append(f"    {name}s{index}[({_label(store)})]")
            lines.append(f"    {name} -.- {name}s{index}")
        lines += [
            f"    {name} --{'>|repartition|' if after in repartitioning else '>'} {names[after]}"
            for after in entry.successors
        ]
    return lines


def _topic_edges(number: int, part: SubTopology, topics: dict[str, str]) -> list[str]:
    edges = []
    for index, entry in enumerate(part.entries):
        for topic in entry.topics:
            name = topics.setdefault(topic, f"t{len(topics)}")
            edges.append(_edge(f"s{number}n{index}", name, entry))
    return edges


def _edge(operator: str, topic: str, entry: Entry) -> str:
    return f"  {topic} --> {operator}" if entry.kind == "Source" else f"  {operator} --> {topic}"


def _label(*lines: str) -> str:
    """Mermaid reads quotes and angle brackets of a label as its own; entities are safe."""
    escaped = (
        line.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
        for line in lines
    )
    return '"' + "<br>".join(escaped) + '"'
