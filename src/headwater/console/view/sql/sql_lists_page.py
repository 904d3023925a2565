"""What a SQL server has: streams, tables and queries, each with its columns or its topology."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import confirm_typed
from headwater.console.view.formats import path
from headwater.console.view.frame import Live, figures, note, user_of
from headwater.console.view.markup import Markup, join, link, table, tag
from headwater.console.view.pipelines.topology_picture import topology_picture
from headwater.console.view.place import go
from headwater.console.view.sql.sql_answers import fields_shown
from headwater.console.view.sql.sql_page import sql_tabs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from headwater.console.model.sql.sql import Sql
    from headwater.console.view.frame import Frame

_STATES = {"RUNNING": "good", "ERROR": "bad", "PAUSED": "warn"}


def register(frame: Frame, sql: Sql) -> None:
    """Make the pages."""
    console = frame.console

    def command(statement: str) -> str:
        return console.commands.sql(sql.url, statement)

    @ui.page(frame.at("/sql/sources"), response_timeout=30)
    async def sources_page(request: Request) -> None:
        async def load() -> Markup:
            return _sources(await console.ask(sql.sources))

        said = command("SHOW STREAMS; SHOW TABLES;")
        with frame.page(request, "SQL", said, sql_tabs("Streams and tables")):
            await Live(load).show()

    @ui.page(frame.at("/sql/queries"), response_timeout=30)
    async def queries_page(request: Request) -> None:
        async def load() -> Markup:
            return _queries(await console.ask(sql.queries))

        with frame.page(request, "SQL", command("SHOW QUERIES;"), sql_tabs("Queries")):
            await Live(load, 3.0).show()

    @ui.page(frame.at("/sql/sources/{name:path}"), response_timeout=30)
    async def source_page(request: Request, name: str) -> None:
        async def load() -> Markup:
            return _source(await console.ask(sql.describe, name))

        async def drop() -> None:
            kind = (await console.ask(sql.describe, name))["type"]
            who = user_of(request)
            await console.change(who, Action.DROP_SOURCE, name, sql.drop, kind, name)
            go("/sql/sources")

        with frame.page(request, name, command(f"DESCRIBE {name} EXTENDED;")):
            with ui.element("div").classes("hw-bar"):
                query = path("sql", query={"q": f"SELECT * FROM `{name}` EMIT CHANGES;"})
                look = ui.button("Query it").props("outline")
                look.on_click(lambda: go(query))
                if console.may(user_of(request), Action.DROP_SOURCE):
                    said = "It is dropped, with the query that fills it; its topic stays."
                    dialog = confirm_typed(f"Drop {name}", said, name, "Drop", drop)
                    button = ui.button("Drop it", on_click=dialog.open)
                    button.props("outline color=negative")
            await Live(load, None).show()

    @ui.page(frame.at("/sql/queries/{query}"), response_timeout=30)
    async def query_page(request: Request, query: str) -> None:
        async def load() -> Markup:
            return _query(await console.ask(sql.explain, query))

        live = Live(load, 3.0)

        def acting(action: str) -> Callable[[], Awaitable[None]]:
            async def act() -> None:
                who = user_of(request)
                await console.change(who, Action.CONTROL_QUERY, query, sql.act, query, action)
                if action == "terminate":
                    go("/sql/queries")
                else:
                    await live.refresh()

            return act

        with frame.page(request, query, command(f"EXPLAIN {query};")):
            if console.may(user_of(request), Action.CONTROL_QUERY):
                said = "It ends for good; what it has written stays."
                ending = confirm_typed(
                    f"Terminate {query}", said, query, "Terminate", acting("terminate")
                )
                with ui.element("div").classes("hw-bar"):
                    for label in ("Pause", "Resume"):
                        button = ui.button(label).props("outline")
                        button.on_click(_told(acting(label.lower())))
                    end = ui.button("Terminate query", on_click=ending.open)
                    end.props("outline color=negative")
            await live.show()


def _told(action: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Return an action that says what is in its way."""

    async def act() -> None:
        try:
            await action()
        except ConsoleError as failure:
            ui.notify(str(failure), type="negative", multi_line=True)

    return act


def _sources(sources: list[dict[str, Any]]) -> Markup:
    if not sources:
        return tag("p", "There are no streams and no tables yet.", class_="hw-soft")
    rows = [
        (
            link(each["name"], path("sql", "sources", each["name"])),
            tag("span", each["type"].lower(), class_="hw-pill"),
            link(each["topic"], path("topics", each["topic"])),
            each.get("keyFormat", ""),
            each.get("valueFormat", each.get("format", "")),
            "yes" if each.get("isWindowed") else "",
        )
        for each in sources
    ]
    headings = ("Name", "Kind", "Topic", "Keys", "Values", "Windowed")
    return tag("div", table(headings, rows), class_="hw-panel")


def _queries(queries: list[dict[str, Any]]) -> Markup:
    if not queries:
        return tag("p", "No query runs.", class_="hw-soft")
    rows = [
        (
            link(each["id"], path("sql", "queries", each["id"])),
            _state(each.get("state") or ""),
            each.get("queryType", "").lower(),
            ", ".join(each.get("sinks") or ()),
            tag("div", each["queryString"], class_="hw-cut", title=each["queryString"]),
        )
        for each in queries
    ]
    headings = ("Query", "State", "Kind", "Into", "Statement")
    return tag("div", table(headings, rows), class_="hw-panel")


def _source(source: Mapping[str, Any]) -> Markup:
    readers = [*source["readQueries"], *source["writeQueries"]]
    known = [
        ("Kind", source["type"].lower()),
        ("Keys", source["keyFormat"]),
        ("Values", source["valueFormat"]),
        ("Partitions", source["partitions"]),
    ]
    links = [join([link(each["id"], path("sql", "queries", each["id"])), " "]) for each in readers]
    return join(
        [
            figures(known),
            tag("p", "Topic: ", link(source["topic"], path("topics", source["topic"]))),
            tag("p", "Queries: ", *(links or [join(["none"])])),
            fields_shown(source["fields"]),
            tag("pre", source["statement"]),
        ]
    )


def _query(query: Mapping[str, Any]) -> Markup:
    errors = [note("error", each["errorMessage"]) for each in query.get("queryErrors") or ()]
    return join(
        [
            figures([("State", _state(query.get("state") or "")), ("Kind", query["queryType"])]),
            *errors,
            tag("pre", query["statementText"]),
            topology_picture(query["topology"]),
        ]
    )


def _state(state: str) -> Markup:
    return tag("span", state.lower() or "-", class_=f"hw-pill {_STATES.get(state, '')}")
