"""The records of a topic: browsed, filtered, followed, exported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.fields import columns_of, fields_in
from headwater.console.model.records.questions import ConsoleError, explained
from headwater.console.model.records.records import NEWEST, Query
from headwater.console.model.security.roles import Action
from headwater.console.view.formats import count, path
from headwater.console.view.frame import Live, html, note, user_of
from headwater.console.view.markup import Markup, join, link, tag
from headwater.console.view.place import go
from headwater.console.view.records.columns_dialog import columns_dialog
from headwater.console.view.records.produce_dialog import produce_dialog
from headwater.console.view.records.record_table import record_table
from headwater.console.view.topics.topic_page import topic_tabs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.records.records import Record, RecordPage
    from headwater.console.model.records.tail import Tail
    from headwater.console.view.frame import Frame

_TAIL_EVERY_S = 0.5
_TAIL_SHOWN = 100


def register(frame: Frame) -> None:
    """Make the pages."""
    console = frame.console

    @ui.page(frame.at("/topics/{topic}"), response_timeout=30)
    async def records_page(request: Request, topic: str) -> None:
        query = _query_in(request, topic)
        command = console.commands.consume(query)
        with frame.page(request, topic, command, topic_tabs(topic, "Records")):
            browser = _Browser(frame, query)
            browser.bar(user_of(request))
            await browser.show()


class _Browser:
    """The records of one page, and what one can do with them."""

    def __init__(self, frame: Frame, query: Query) -> None:
        self._console = frame.console
        self._frame = frame
        self._query = query
        self._tail: Tail | None = None
        self._timer: ui.timer | None = None
        self._followed: list[Record] = []
        self._columns: Sequence[str] = ()
        self._fields: Sequence[str] = ()

    def bar(self, user: str) -> None:
        """Show where to start, what to look for, and what else can be done."""
        query = self._query
        with ui.element("div").classes("hw-bar"):
            start = ui.input("From", value=query.start).props("dense outlined")
            start.style("width: 190px").tooltip(
                "newest, earliest, an offset, -100 (before the end), a date, or 15m (ago)"
            )
            partition = ui.input(
                "Partition", value="" if query.partition is None else str(query.partition)
            )
            partition.props("dense outlined").style("width: 100px")
            contains = ui.input("Contains", value=query.contains).props("dense outlined clearable")
            contains.style("width: 190px")
            where = ui.input("Where", value=query.where).props(
                'dense outlined clearable placeholder="value.amount > 10"'
            )
            where.style("flex: 1; min-width: 220px").tooltip(
                "Conditions on key, value.FIELD, headers.NAME, partition, offset, timestamp, "
                "joined by and: = != < <= > >= contains exists"
            )

            def search() -> None:
                go(
                    self._place(
                        start=start.value,
                        partition=partition.value,
                        contains=contains.value,
                        where=where.value,
                    )
                )

            for box in (start, partition, contains, where):
                box.on("keydown.enter", search)
            ui.button("Search", on_click=search).props("unelevated")
        with ui.element("div").classes("hw-bar"):
            self._follow_button = ui.button("Live tail", on_click=self._follow).props("outline")
            pick = columns_dialog(
                lambda: self._fields,
                [name.strip() for name in query.columns.split(",") if name.strip()],
                lambda columns: go(self._place(columns=columns, cursor=query.cursor)),
            )
            ui.button("Columns", on_click=pick).props("outline")
            if self._console.may(user, Action.PRODUCE):
                dialog = produce_dialog(self._frame, query.topic, user)
                ui.button("Produce", on_click=dialog.open).props("outline")
            html(join([link("JSON lines", self._export("jsonl")), " "]))
            html(link("CSV", self._export("csv")))

    async def show(self) -> None:
        """Show the page of records."""
        self._live = Live(self._load, None)
        await self._live.show()

    async def _load(self) -> Markup:
        self._columns = explained(lambda: columns_of(self._query.columns))
        page = await self._console.ask(self._console.records.page, self._query)
        self._fields = fields_in(page.records)
        return self._shown(page)

    def _shown(self, page: RecordPage) -> Markup:
        parts: list[object] = []
        if page.records:
            parts.append(record_table(page.records, self._columns))
        elif page.cursor:
            parts.append(tag("p", "Nothing was found in what was looked at.", class_="hw-soft"))
        else:
            parts.append(tag("p", "There are no records here.", class_="hw-soft"))
        said = f"{count(len(page.records))} shown, {count(page.scanned)} looked at. "
        onward = None
        if page.cursor:
            label = "Go on looking" if page.is_unfinished else "Next page"
            onward = link(label, self._place(cursor=page.cursor))
        parts.append(tag("p", said, onward, class_="hw-soft", style="margin: 8px 2px"))
        return join(parts)

    async def _follow(self) -> None:
        if self._tail is not None:
            self._tail.stop()
            self._tail = None
            if self._timer is not None:
                self._timer.cancel()
            self._follow_button.set_text("Live tail")
            return
        try:
            tail = explained(lambda: self._console.tails.start(replace(self._query, cursor="")))
        except ConsoleError as failure:
            ui.notify(str(failure), type="warning")
            return
        self._tail = tail
        self._followed = []
        self._follow_button.set_text("Stop the tail")
        self._live.content.set_content(tag("p", "Waiting for new records ...", class_="hw-soft"))
        self._timer = ui.timer(_TAIL_EVERY_S, self._show_tail)
        ui.context.client.on_delete(tail.stop)

    def _show_tail(self) -> None:
        if self._tail is None:
            return
        if self._tail.failure is not None:
            self._live.content.set_content(note("error", self._tail.failure))
            return
        taken = self._tail.take()
        if taken:
            self._followed = [*reversed(taken), *self._followed][:_TAIL_SHOWN]
            self._fields = fields_in(self._followed)
            self._live.content.set_content(record_table(self._followed, self._columns))

    def _place(self, **changes: object) -> str:
        query = self._query
        partition = "" if query.partition is None else query.partition
        given = {
            "start": query.start,
            "partition": partition,
            "contains": query.contains,
            "where": query.where,
            "columns": query.columns,
            **changes,
        }
        return _address(query.topic, **given)

    def _export(self, form: str) -> str:
        query = self._query
        partition = None if query.partition is None else str(query.partition)
        return path(
            *("api", "topics", query.topic, "records"),
            query={
                "format": form,
                "start": query.start,
                "partition": partition,
                "contains": query.contains,
                "where": query.where,
                "columns": query.columns,
                "limit": 10_000,
            },
        )


def _query_in(request: Request, topic: str) -> Query:
    given = request.query_params
    partition = given.get("partition", "")
    return Query(
        topic,
        given.get("start", "") or NEWEST,
        int(partition) if partition.isdigit() else None,
        given.get("contains", ""),
        given.get("where", ""),
        given.get("columns", ""),
        given.get("cursor", ""),
    )


def _address(topic: str, **given: object) -> str:
    start = given.get("start") or NEWEST
    kept = {**given, "start": "" if start == NEWEST else start}
    return path("topics", topic, query=kept)
