"""A program: its stages as pictures, with rates, lag and state on them, and the road of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.programs.topology import Node
from headwater.console.view.formats import UNKNOWN, count, instant, path, seconds, size
from headwater.console.view.frame import Live, figures, note
from headwater.console.view.markup import Markup, join, link, table, tag
from headwater.console.view.pipelines.pipelines_page import pipeline_state, programs_command
from headwater.console.view.pipelines.topology_picture import drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.console.model.programs.programs import Operator, Program, ProgramQuery, Stage
    from headwater.console.view.frame import Frame

_EVERY_S = 3.0
_HEADINGS = (
    *("Query", "State", "Rows/s", "Rows", "Lag", "State rows", "State", "Late"),
    *("Last batch", "Restarts"),
)


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/pipelines/{owner}/{name:path}"), response_timeout=30)
    async def pipeline_page(request: Request, owner: str, name: str) -> None:
        def look() -> tuple[Program, Mapping[str, float]]:
            return console.programs.find(owner, name), console.cluster.look().rates

        async def load() -> Markup:
            return _shown(*await console.ask(look))

        with frame.page(request, name, programs_command(frame)):
            await Live(load, _EVERY_S).show()


def _shown(program: Program, rates: Mapping[str, float]) -> Markup:
    known = [
        ("State", pipeline_state(program.state)),
        ("Rows/s", count(program.rows_per_s)),
        ("Lag in records", count(program.lag)),
        ("State rows", count(program.state_rows)),
        ("Restarts", count(program.restarts)),
    ]
    guarantee = program.guarantee.replace("_", " ")
    where = (
        f"On {program.host}, process {program.pid}, {program.state} since "
        f"{instant(program.since)} UTC, {guarantee}"
    )
    query = None
    if program.owner == "sql":
        place = path("sql", "queries", program.query_id)
        query = join([". Its statement: ", link(program.query_id, place)])
    return join(
        [
            note("error", program.error) if program.error else None,
            figures(known),
            tag("p", where, query, class_="hw-soft"),
            *(_stage(stage, program.queries, rates) for stage in program.stages),
        ]
    )


def _stage(stage: Stage, queries: Sequence[ProgramQuery], rates: Mapping[str, float]) -> Markup:
    own = [each for each in queries if each.stage == stage.name]
    lags: dict[str, int] = {}
    for each in own:
        for topic, lag in each.lags.items():
            # Queries of a stage read the same topics; the one that is farthest behind counts.
            lags[topic] = max(lag, lags.get(topic, 0))
    stateful = sum(bool(each.stores) for each in stage.operators)
    known = [each.state_rows for each in own if each.state_rows is not None]
    rows = sum(known) if known else None
    nodes = [_node(each, rates, lags, rows if stateful == 1 else None) for each in stage.operators]
    parts: list[object] = [
        tag("h2", stage.name, " ", _road(own)),
        *(note("error", f"{each.name}: {each.failure}") for each in own if each.failure),
        drawn(nodes),
    ]
    if own:
        shown = table(_HEADINGS, map(_row, own), numbers=range(2, 10))
        parts.append(tag("div", shown, class_="hw-panel", style="margin-top: 8px"))
    topics = [
        (link(topic, path("topics", topic)), "reads" if each.kind == "Source" else "writes",
         count(rates.get(topic)), count(lags.get(topic)) if each.kind == "Source" else UNKNOWN)
        for each in stage.operators
        for topic in each.topics
    ]  # fmt: skip
    if topics:
        headings = ("Topic", "It", "Records/s written to it", "Lag")
        shown = table(headings, topics, numbers=(2, 3))
        parts.append(tag("div", shown, class_="hw-panel", style="margin-top: 8px"))
    return tag("section", *parts)


def _road(queries: Sequence[ProgramQuery]) -> Markup:
    roads = sorted({each.road for each in queries})
    whys = sorted({each.why_micro_batches for each in queries if each.why_micro_batches})
    pills = [tag("span", road, class_="hw-pill") for road in roads]
    why = tag("span", f" {'; '.join(whys)}", class_="hw-soft hw-why") if whys else None
    return join([*pills, why])


def _node(
    each: Operator, rates: Mapping[str, float], lags: Mapping[str, int], state_rows: int | None
) -> Node:
    told = []
    if each.topics:
        known = [rates[topic] for topic in each.topics if topic in rates]
        if known:
            told.append(f"{count(sum(known))} records/s")
        behind = [lags[topic] for topic in each.topics if topic in lags]
        if each.kind == "Source" and behind:
            told.append(f"lag {count(sum(behind))}")
    elif each.stores and state_rows is not None:
        told.append(f"{count(state_rows)} rows of state")
    what = each.topics if each.kind != "Processor" else each.stores
    return Node(each.kind, each.id, ", ".join(what), list(each.into), each.summary, ", ".join(told))


def _row(query: ProgramQuery) -> tuple[object, ...]:
    batch = None if query.batch_ms is None else query.batch_ms / 1000
    return (
        query.name,
        pipeline_state(query.state),
        count(query.rows_per_s),
        count(query.rows),
        count(query.lag),
        count(query.state_rows),
        size(query.state_bytes),
        count(query.late_rows),
        seconds(batch),
        count(query.restarts),
    )
