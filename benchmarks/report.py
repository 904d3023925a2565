"""The figures as a table in the terminal, as JSON, as a page and as a plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks import registry
from benchmarks.targets import HEADWATER, HEADWATER_OS, KAFKA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.results import Results, Row

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
PLOT = ROOT / "docs" / "benchmarks.svg"
TARGETS = [HEADWATER.name, HEADWATER_OS.name, KAFKA.name]

GOALS = {
    "ready after the command": "300 ms",
    "resident memory, idle": "60 MB",
    "resident memory, after the load": "no growth",
    "produce, 100-byte records, acks=1": "1,200,000/s",
    "produce, 100-byte records, acks=all": "60 % of flush=os",
    "consume, 100-byte records": "1,000,000/s",
    "produce from Python, commit every 100 ms": "80 % of idempotent",
    "end-to-end latency, acks=all, median": "2 ms",
    "end-to-end latency, acks=all, 99 %": "3 ms",
    "end-to-end latency, acks=all, 99.9 %": "14 ms",
    "8 members share 64 partitions, after the last join": "1 s",
    "a killed member's partitions have moved, after its session timeout": "1 s",
    "2,000 members in 200 groups: longest heartbeat or commit": "100 ms",
    **registry.GOALS,
}

_INTRODUCTION = """# Benchmarks

`make bench` measures Headwater's broker side by side with Apache Kafka {version} on the machine in
front of you, in one run, each in turn, and writes this page. Figures are medians of {rounds}
rounds. A ratio above 1 means that Headwater is better; it compares the column in bold. Kafka runs
as one combined KRaft node with its default settings and a heap of 1 GB.

Kafka answers `acks=all` from the page cache, since its safety comes from replicas. Headwater with
`flush=fsync` answers it from the disk. `flush=os` does what Kafka does.

Producers and consumers are librdkafka through kcat (batches of up to 1 MB, one partition). Latency
is one record at a time through confluent-kafka, from produce until it is consumed.

The schema registry is measured on Headwater's broker, alone: reads come from 16 connections, and
per core means per second of processor time that the registry took.
"""


def print_table(rows: list[Row]) -> None:
    """Print the figures to the terminal."""
    table = Table(title="Headwater beside Apache Kafka")
    table.add_column("", no_wrap=True)
    for target in TARGETS:
        table.add_column(target, justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("goal", justify="right")
    for row in rows:
        cells = [_figure(row, target) for target in TARGETS]
        table.add_row(row.name, *cells, _ratio(row), GOALS.get(row.name, ""))
    Console(width=150).print(table)


def write(results: Results, machine: Mapping[str, str], rounds: int, version: str) -> None:
    """Write the samples, the page and the plot."""
    stamp = machine["date"][:10]
    samples = ROOT / "benchmarks" / "results" / f"{stamp}.json"
    samples.parent.mkdir(exist_ok=True)
    flat = [
        {"row": row, "unit": unit, "samples": by_target}
        for (row, unit), by_target in results.samples.items()
    ]
    samples.write_text(json.dumps({"machine": dict(machine), "rows": flat}, indent=1) + "\n")
    PAGE.write_text(_page(results.rows(), machine, rounds, version))
    plot(results.rows())


def plot(rows: list[Row]) -> None:
    """Draw the rows as bars, each as a share of its best."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(rows), 1, figsize=(8, 1.1 * len(rows)))
    colours = dict(zip(TARGETS, ("#1b6ca8", "#7fb6de", "#b0b0b0"), strict=True))
    for axis, row in zip(axes, rows, strict=True):
        shown = [target for target in TARGETS if target in row.medians]
        values = [row.medians[target] for target in shown]
        bars = axis.barh(shown, values, color=[colours[target] for target in shown])
        axis.bar_label(bars, [_figure(row, target) for target in shown], padding=3, fontsize=7)
        axis.set_title(f"{row.name} ({row.unit})", fontsize=8, loc="left")
        axis.tick_params(labelsize=7)
        axis.set_xlim(0, max(values) * 1.2)
        axis.set_xticks([])
        axis.invert_yaxis()
        for side in ("top", "right", "bottom"):
            axis.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


def _page(rows: list[Row], machine: Mapping[str, str], rounds: int, version: str) -> str:
    lines = [_INTRODUCTION.format(version=version, rounds=rounds)]
    lines.append(" | ".join(["| ", *TARGETS, "ratio", "goal |"]))
    lines.append("| --- |" + " ---: |" * (len(TARGETS) + 2))
    for row in rows:
        ours = _ours(row)
        cells = [
            f"**{_figure(row, target)}**" if target == ours else _figure(row, target)
            for target in TARGETS
        ]
        goal = GOALS.get(row.name, "")
        lines.append(f"| {row.name} | {' | '.join(cells)} | {_ratio(row)} | {goal} |")
    lines.append("\n![The same figures as bars](benchmarks.svg)\n")
    lines += [f"- {name}: {value}" for name, value in machine.items()]
    return "\n".join(lines) + "\n"


def _ours(row: Row) -> str:
    """Which of our columns the ratio is about: the default mode, where it was measured."""
    return HEADWATER.name if HEADWATER.name in row.medians else HEADWATER_OS.name


def _ratio(row: Row) -> str:
    ratio = row.ratio(_ours(row), KAFKA.name)
    return "" if ratio is None else f"{ratio:.2f}x"


def _figure(row: Row, target: str) -> str:
    value = row.medians.get(target)
    if value is None:
        return ""
    if row.unit.endswith("/s"):
        return f"{value:,.0f}/s"
    return f"{value:,.2f} {row.unit}" if value < 10 else f"{value:,.0f} {row.unit}"
