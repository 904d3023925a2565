"""The figures as tables in the terminal, as JSON, as a page and as plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks.results import Results
from benchmarks.sections import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.results import Row
    from benchmarks.sections import Section

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
SAMPLES = ROOT / "benchmarks" / "results"

_COLOURS = ("#1b6ca8", "#7fb6de", "#b0b0b0", "#d9a441", "#9a7fb8", "#7aa874")

_ROW_INCHES = 0.9

_INTRODUCTION = """# Benchmarks

`make bench` measures Headwater side by side with what people would use instead, on the machine in
front of you, each in turn, and writes this page; `python -m benchmarks SECTION` does so for one
section. Figures are medians of some rounds. A ratio above 1 means that Headwater is better; it
compares the column in bold.
"""


def print_table(section: Section, rows: list[Row]) -> None:
    """Print the figures of a section to the terminal."""
    table = Table(title=section.title)
    table.add_column("", no_wrap=True)
    for column in section.columns:
        table.add_column(column, justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("goal", justify="right")
    for row in rows:
        cells = [_figure(row, column) for column in section.columns]
        table.add_row(row.name, *cells, _ratio(section, row), section.goals.get(row.name, ""))
    Console(width=160).print(table)


def write(
    section: Section,
    results: Results,
    machine: Mapping[str, str],
    rounds: int,
    *,
    keep_others: bool = False,
) -> None:
    """Keep a section's samples, draw its plot, and write the page of all sections.

    Rows that were not measured go, or stay with the samples that were kept of them.
    """
    path = SAMPLES / f"{section.name}.json"
    if keep_others and path.exists():
        kept_results = _results(json.loads(path.read_text()))
        kept_results.samples.update(results.samples)
        results = kept_results
    flat = [
        {"row": row, "unit": unit, "samples": by_column}
        for (row, unit), by_column in results.samples.items()
    ]
    kept = {"machine": dict(machine), "rounds": rounds, "rows": flat}
    SAMPLES.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n")
    plot(section, results.rows())
    write_page()


def write_page() -> None:
    """Write the page from the samples that were kept."""
    lines = [_INTRODUCTION]
    for section in SECTIONS.values():
        path = SAMPLES / f"{section.name}.json"
        if path.exists():
            lines += _section(section, json.loads(path.read_text()))
    PAGE.write_text("\n".join(lines))


def plot(section: Section, rows: list[Row]) -> None:
    """Draw the rows as bars, each as a share of its best."""
    import matplotlib

    matplotlib.use("svg")
    # Text as text: as outlines, the pictures would be three times as large.
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    height = _ROW_INCHES * len(rows)
    figure, axes = pyplot.subplots(len(rows), 1, figsize=(8, height), squeeze=False)
    colours = dict(zip(section.columns, _COLOURS, strict=False))
    for axis, row in zip(axes[:, 0], rows, strict=True):
        shown = [column for column in section.columns if column in row.medians]
        values = [row.medians[column] for column in shown]
        bars = axis.barh(shown, values, color=[colours[column] for column in shown])
        axis.bar_label(bars, [_figure(row, column) for column in shown], padding=3, fontsize=7)
        axis.set_title(f"{row.name} ({row.unit})", fontsize=8, loc="left")
        axis.tick_params(labelsize=7)
        axis.set_xlim(0, max(values) * 1.2)
        axis.set_xticks([])
        axis.invert_yaxis()
        for side in ("top", "right", "bottom"):
            axis.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(PAGE.with_name(_plot_name(section)), metadata={"Date": None})
    pyplot.close(figure)


def _section(section: Section, kept: Mapping[str, Any]) -> Iterator[str]:
    results = _results(kept)
    yield f"## {section.title}\n\n{section.introduction}\n"
    yield "| " + " | ".join([f"medians of {kept['rounds']}", *section.columns, "ratio", "goal |"])
    yield "| --- |" + " ---: |" * (len(section.columns) + 2)
    for row in results.rows():
        ours = section.compared(row)
        cells = [
            f"**{_figure(row, column)}**" if column == ours else _figure(row, column)
            for column in section.columns
        ]
        goal = section.goals.get(row.name, "")
        yield f"| {row.name} | {' | '.join(cells)} | {_ratio(section, row)} | {goal} |"
    yield f"\n![The same figures as bars]({_plot_name(section)})\n"
    yield from (f"- {name}: {value}" for name, value in kept["machine"].items())
    yield ""


def _results(kept: Mapping[str, Any]) -> Results:
    results = Results()
    for each in kept["rows"]:
        results.samples[(each["row"], each["unit"])] = each["samples"]
    return results


def _plot_name(section: Section) -> str:
    return f"benchmarks-{section.name}.svg"


def _ratio(section: Section, row: Row) -> str:
    ours = section.compared(row)
    ratio = row.ratio(ours, section.peer) if ours and section.peer else None
    return "" if ratio is None else f"{ratio:.2f}x"


def _figure(row: Row, column: str) -> str:
    value = row.medians.get(column)
    if value is None:
        return ""
    if row.unit.endswith("/s"):
        return f"{value:,.0f}/s"
    return f"{value:,.2f} {row.unit}" if value < 10 else f"{value:,.0f} {row.unit}"
