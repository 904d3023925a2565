"""SQL: statements that are typed and run, with their answers; rows of queries as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.model.sql.sql_chart import NONE, Chart
from headwater.console.model.sql.sql_statements import statements_in
from headwater.console.view.formats import count, path
from headwater.console.view.frame import Tab, html, user_of
from headwater.console.view.markup import Markup, tag
from headwater.console.view.place import address
from headwater.console.view.sql.sql_answers import answer_shown, rows_shown
from headwater.console.view.sql.sql_chart import SqlChart
from headwater.console.view.sql.sql_suggestions import SqlSuggestions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.console.model.sql.sql import RunningQuery, Sql
    from headwater.console.model.sql.sql_statements import Statement
    from headwater.console.view.frame import Frame

_EVERY_S = 0.4
_FIRST = "SHOW STREAMS;"
_BEGINNING = {"earliest": "From the beginning", "latest": "From now on"}
_RESET = "auto.offset.reset"


def register(frame: Frame, sql: Sql) -> None:
    """Make the page."""

    @ui.page(frame.at("/sql"), response_timeout=30)
    async def sql_page(request: Request) -> None:
        command = frame.console.commands.sql(sql.url)
        with frame.page(request, "SQL", command, sql_tabs("Editor")):
            editor = _Editor(frame, sql, user_of(request))
            given = request.query_params
            editor.show(given.get("q", _FIRST), _chart_in(given))


def _chart_in(given: Mapping[str, str]) -> Chart:
    return Chart(given.get("chart", NONE), given.get("x", ""), given.get("y", ""))


def sql_tabs(current: str) -> list[Tab]:
    """Return the views of SQL."""
    places = (("Editor", "/sql"), ("Streams and tables", "/sql/sources"))
    return [
        Tab(label, href, label == current) for label, href in (*places, ("Queries", "/sql/queries"))
    ]


class _Editor:
    """A text of statements, and what came of them."""

    def __init__(self, frame: Frame, sql: Sql, user: str) -> None:
        self._console = frame.console
        self._sql = sql
        self._user = user
        self._properties: dict[str, str] = {}
        self._query: RunningQuery | None = None
        self._shown = -1

    def show(self, text: str, chart: Chart) -> None:
        """Show the editor and where answers go."""
        self._chart = SqlChart(chart, self._picked)
        self._text = ui.textarea("Statements", value=text).props("outlined rows=7 autofocus")
        self._text.classes("hw-mono hw-editor").style("width: 100%")
        self._text.on("keydown.ctrl.enter", self._run)
        self._suggestions = SqlSuggestions(self._console, self._sql, self._text)
        self._suggestions.show()
        with ui.element("div").classes("hw-bar").style("margin-top: 8px"):
            ui.button("Run", on_click=self._run).props("unelevated").tooltip("Ctrl+Enter")
            self._stop_button = ui.button("Stop", on_click=self._stop).props("outline")
            self._stop_button.set_enabled(False)
            self._start = ui.select(_BEGINNING, value="earliest", label="Queries read")
            self._start.props("dense outlined").style("width: 220px")
            self._chart.choices()
            self._status = html(Markup())
        self._answers = ui.element("div")
        ui.timer(_EVERY_S, self._show_rows)
        ui.context.client.on_delete(self._stop)

    async def _run(self) -> None:
        self._stop()
        self._query = None
        self._stop_button.set_enabled(False)
        self._answers.clear()
        self._chart.forget()
        self._status.set_content("")
        self._properties = {_RESET: str(self._start.value)}
        # A SET among the statements goes before what the page says.
        for statement in statements_in(self._text.value or ""):
            with self._answers, ui.element("div").classes("hw-rows"):
                place = html(Markup()).classes("hw-live")
                if statement.is_query:
                    self._chart.place()
            try:
                if statement.is_query:
                    await self._start_query(statement, place)
                    return
                await self._run_one(statement, place)
            except ConsoleError as failure:
                place.set_content(_refused(statement, str(failure)))
                return

    async def _start_query(self, statement: Statement, place: ui.html) -> None:
        """Let its rows come; statements after it are not run, since it may have no end."""
        if not self._console.may_query(self._user):
            raise ConsoleError("Fields are masked here, and a query could show them: ask an admin.")
        query = await self._console.ask(self._sql.query, statement.text, self._properties)
        self._query, self._place, self._statement, self._shown = query, place, statement, -1
        self._stop_button.set_enabled(True)

    async def _run_one(self, statement: Statement, place: ui.html) -> None:
        properties = statement.changed(self._properties)
        if properties is not None:
            self._properties = properties
            return
        if statement.is_change:
            entities = await self._console.change(
                self._user,
                Action.RUN_STATEMENT,
                statement.without_settings,
                self._sql.run,
                statement.text,
                self._properties,
            )
            self._suggestions.forget()
        else:
            entities = await self._console.ask(self._sql.run, statement.text, self._properties)
        place.set_content(answer_shown(statement.text, entities))

    def _show_rows(self) -> None:
        query = self._query
        if query is None:
            return
        if query.failure is not None:
            self._place.set_content(_refused(self._statement, query.failure))
        elif query.received != self._shown:
            self._shown = query.received
            self._place.set_content(rows_shown(query.columns, query.types, list(query.rows)))
            self._chart.show(query)
        if not query.is_running and self._stop_button.enabled:
            self._stop_button.set_enabled(False)
        state = "live" if query.is_running else "ended"
        pill = tag("span", state, class_=f"hw-pill {'good' if query.is_running else ''}")
        said = tag("span", pill, f" {count(query.received)} rows", class_="hw-soft")
        if self._status.content != said:
            self._status.set_content(said)

    def _picked(self, chart: Chart) -> None:
        """Keep in the address what is drawn of what, so that it can be shared."""
        columns = {} if chart.kind == NONE else {"chart": chart.kind, "x": chart.x, "y": chart.y}
        query = {"q": self._text.value or "", **columns}
        ui.navigate.history.replace(address(path("sql", query=query)))

    def _stop(self) -> None:
        if self._query is not None:
            self._query.stop()


def _refused(statement: Statement, why: str) -> Markup:
    first, _, more = why.partition("\n")
    place = tag("pre", more) if more else None
    said = tag("div", first, place, class_="hw-note error", role="status")
    return tag("div", tag("p", tag("code", statement.text), class_="hw-soft"), said)
