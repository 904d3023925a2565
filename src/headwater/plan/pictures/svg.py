"""A plan as an SVG picture: a lane for each stage, topics at its left and right ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from xml.sax.saxutils import escape

from headwater.plan.pictures.topology import SubTopology, topology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.splitting.stages import Stage

_WIDTH, _HEIGHT = 250, 46
_COLUMN, _ROW = _WIDTH + 60, _HEIGHT + 24
_MARGIN, _TITLE = 24, 28
_LETTERS = 38
_STYLE = """
    text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2933 }
    .small { font-size: 10px; fill: #52606d } .title { font-weight: 600 }
    .lane { fill: #f5f7fa; stroke: #cbd2d9 } .box { fill: #fff; stroke: #486581 }
    .topic { fill: #e0fcff; stroke: #0e7c86 } .internal { fill: #fff3c4; stroke: #b44d12 }
    .store { fill: #f0e8ff; stroke: #653cad }
    .edge { fill: none; stroke: #829ab1; stroke-width: 1.4 } .dash { stroke-dasharray: 5 4 }
"""


@dataclass(frozen=True)
class _Box:
    name: str
    title: str
    detail: str
    look: Literal["box", "topic", "internal", "store"]


@dataclass
class _Lane:
    title: str
    boxes: dict[str, _Box] = field(default_factory=dict)
    edges: list[tuple[str, str, bool]] = field(default_factory=list)


def svg(title: str, stages: Sequence[Stage]) -> str:
    """Return the picture."""
    parts = []
    top = _MARGIN
    right = 0
    for part in topology(stages):
        lane = _lane(part)
        places = _places(lane)
        columns = 1 + max(column for column, _ in places.values())
        rows = 1 + max(row for _, row in places.values())
        width, height = columns * _COLUMN - 60 + 2 * _MARGIN, _TITLE + rows * _ROW + 12
        parts.append(_drawn(lane, places, top, width, height))
        top += height + _MARGIN
        right = max(right, width + 2 * _MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{top}" '
        f'viewBox="0 0 {right} {top}" role="img">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n{''.join(parts)}</svg>\n"
    )


def _lane(part: SubTopology) -> _Lane:
    lane = _Lane(f"{part.stage.name} ({'append' if part.stage.only_adds else 'update'})")
    repartitioning = {entry.id for entry in part.entries if entry.repartitions}
    for entry in part.entries:
        lane.boxes[entry.id] = _Box(entry.id, entry.id, entry.summary, "box")
        lane.edges += [(entry.id, after, after in repartitioning) for after in entry.successors]
        for topic in entry.topics:
            name = f"{entry.kind} {topic}"
            look: Literal["internal", "topic"] = "internal" if entry.internal else "topic"
            detail = "repartition topic" if entry.internal else "topic"
            lane.boxes[name] = _Box(name, topic, detail, look)
            pair = (name, entry.id) if entry.kind == "Source" else (entry.id, name)
            lane.edges.append((*pair, False))
        for store in entry.stores:
            lane.boxes[store] = _Box(store, store, "state; changelog in the checkpoint", "store")
            lane.edges.append((entry.id, store, False))
    return lane


def _places(lane: _Lane) -> dict[str, tuple[int, int]]:
    """Return column and row of each box: as far right as its longest way, then near its inputs."""
    inputs: dict[str, list[str]] = {name: [] for name in lane.boxes}
    for start, end, _ in lane.edges:
        inputs[end].append(start)
    column = _columns(lane, inputs)
    places: dict[str, tuple[int, int]] = {}
    for number in range(1 + max(column.values())):
        members = [name for name in lane.boxes if column[name] == number]
        members.sort(key=lambda name: _order(lane.boxes[name], inputs[name], places))
        row = 0
        for name in members:
            row = max(row, round(_wanted_row(inputs[name], places)))
            places[name] = (number, row)
            row += 1
    return places


def _columns(lane: _Lane, inputs: dict[str, list[str]]) -> dict[str, int]:
    column = dict.fromkeys(lane.boxes, 0)
    for _ in lane.boxes:
        moved = False
        for start, end, _ in lane.edges:
            if column[end] < column[start] + 1:
                column[end] = column[start] + 1
                moved = True
        if not moved:
            break
    # Sources move to what reads them, since a long edge would run behind other boxes.
    for name in sorted(lane.boxes, key=lambda name: -column[name]):
        readers = [column[end] for start, end, _ in lane.edges if start == name]
        if readers and not any(inputs[before] for before in inputs[name]):
            column[name] = min(readers) - 1
    return column


def _order(box: _Box, inputs: list[str], places: dict[str, tuple[int, int]]) -> tuple[float, bool]:
    """Sort near the inputs, and stores below what follows."""
    return _wanted_row(inputs, places), box.look == "store"


def _wanted_row(inputs: list[str], places: dict[str, tuple[int, int]]) -> float:
    rows = [places[name][1] for name in inputs if name in places]
    return sum(rows) / len(rows) if rows else 0.0


def _drawn(
    lane: _Lane, places: dict[str, tuple[int, int]], top: int, width: int, height: int
) -> str:
    def corner(name: str) -> tuple[int, int]:
        column, row = places[name]
        return 2 * _MARGIN + column * _COLUMN, top + _TITLE + row * _ROW

    parts = [
        f'<rect class="lane" x="{_MARGIN}" y="{top}" width="{width}" height="{height}" rx="10"/>\n'
        f'<text class="title" x="{_MARGIN + 14}" y="{top + 18}">{escape(lane.title)}</text>\n'
    ]
    for start, end, repartition in lane.edges:
        parts.append(_edge(corner(start), corner(end), repartition))
    parts += [_box(box, *corner(name)) for name, box in lane.boxes.items()]
    return "".join(parts)


def _edge(start: tuple[int, int], end: tuple[int, int], repartition: bool) -> str:
    x1, y1 = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    x2, y2 = end[0], end[1] + _HEIGHT // 2
    look = "edge dash" if repartition else "edge"
    note = "<title>repartition by key</title>" if repartition else ""
    bend = (x2 - x1) // 2
    path = f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    head = f"M{x2 - 6} {y2 - 4} L{x2} {y2} L{x2 - 6} {y2 + 4}"
    return f'<path class="{look}" d="{path}">{note}</path><path class="edge" d="{head}"/>\n'


def _box(box: _Box, x: int, y: int) -> str:
    radius = 6 if box.look == "box" else _HEIGHT // 2
    return (
        f'<g><title>{escape(box.title)}: {escape(box.detail)}</title><rect class="{box.look}" '
        f'x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{radius}"/>'
        f'<text x="{x + 12}" y="{y + 19}">{escape(_short(box.title))}</text>'
        f'<text class="small" x="{x + 12}" y="{y + 35}">{escape(_short(box.detail))}</text></g>\n'
    )


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
