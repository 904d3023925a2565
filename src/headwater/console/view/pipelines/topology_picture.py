"""A topology as a picture: sources on the left, sinks on the right, arrows between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.model.programs.topology import layers_of, topology_of
from headwater.console.view.markup import Markup, tag

if TYPE_CHECKING:
    from headwater.console.model.programs.topology import Node

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 184, 40, 48, 18, 6
_MOST_LETTERS, _MOST_SMALL_LETTERS = 26, 30


def topology_picture(text: str) -> Markup:
    """Return the picture of a description, and the description itself behind a heading."""
    nodes = topology_of(text)
    words = tag("details", tag("summary", "As text"), tag("pre", text), class_="hw-trace")
    if not nodes:
        return tag("pre", text)
    return tag("div", drawn(nodes), words)


def drawn(nodes: list[Node]) -> Markup:
    """Return the picture of some nodes."""
    return tag("div", _svg(nodes), class_="hw-panel hw-pad hw-wide", tabindex="0", role="group",
               aria_label="Topology")  # fmt: skip


def _svg(nodes: list[Node]) -> Markup:
    layers = layers_of(nodes)
    places = {
        node.name: (
            _MARGIN + column * (_WIDTH + _ACROSS),
            _MARGIN + row * (_HEIGHT + _DOWN),
        )
        for column, layer in enumerate(layers)
        for row, node in enumerate(layer)
    }
    width = 2 * _MARGIN + len(layers) * (_WIDTH + _ACROSS) - _ACROSS
    height = 2 * _MARGIN + max(map(len, layers)) * (_HEIGHT + _DOWN) - _DOWN
    arrows = [
        _arrow(places[node.name], places[name])
        for node in nodes
        for name in node.into
        if name in places
    ]
    described = "Topology: " + ", ".join(node.label for node in nodes)
    return tag(
        "svg",
        *arrows,
        *(_box(node, *places[node.name]) for node in nodes),
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        style=f"max-width: 100%; height: auto; min-width: {width * 3 // 4}px",
        role="img",
        aria_label=described,
        class_="hw-topology",
    )


def _box(node: Node, x: int, y: int) -> Markup:
    kind = node.kind.lower() if node.kind != "Processor" or not node.what else "with state"
    told = ", ".join(each for each in (node.label, node.title, node.figures) if each)
    return tag(
        "g",
        tag("title", f"{node.name}: {told}"),
        tag(
            "rect",
            x=x,
            y=y,
            width=_WIDTH,
            height=_HEIGHT,
            rx=6,
            class_=node.kind.lower(),
        ),
        tag("text", _cut(node.label, _MOST_LETTERS), x=x + 10, y=y + 17),
        tag(
            "text",
            _cut(node.figures or kind, _MOST_SMALL_LETTERS),
            x=x + 10,
            y=y + 32,
            class_="kind",
        ),
    )


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    x1, y1 = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    x2, y2 = end[0], end[1] + _HEIGHT // 2
    middle = (x1 + x2) // 2
    line = tag("path", d=f"M {x1} {y1} C {middle} {y1}, {middle} {y2}, {x2 - 5} {y2}", class_="way")
    head = tag("path", d=f"M {x2 - 7} {y2 - 4} L {x2} {y2} L {x2 - 7} {y2 + 4} Z", class_="head")
    return tag("g", line, head)
