"""A topic: its partitions, its settings with what they mean, who reads it, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, confirm_typed, titled_dialog
from headwater.console.view.formats import UNKNOWN, count, path, size
from headwater.console.view.frame import Live, Tab, html, user_of
from headwater.console.view.groups.groups_page import group_link
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, join, table, tag
from headwater.console.view.place import go

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.clients.raw.config_documentation import DocumentedSetting
    from headwater.console.model.groups.groups import GroupRow
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.model.topics import PartitionRow
    from headwater.console.view.frame import Frame

_MOST_PARTITIONS = 1_000


def topic_tabs(topic: str, current: str) -> list[Tab]:
    """Return the views of a topic."""
    places = (
        ("Records", path("topics", topic)),
        ("Partitions", path("topics", topic, "partitions")),
        ("Settings", path("topics", topic, "settings")),
        ("Groups", path("topics", topic, "groups")),
    )
    return [Tab(label, href, label == current) for label, href in places]


def register(frame: Frame) -> None:
    """Make the pages; that of records has a file of its own."""
    console = frame.console

    @ui.page(frame.at("/topics/{topic}/partitions"), response_timeout=30)
    async def partitions_page(request: Request, topic: str) -> None:
        async def load() -> Markup:
            return _partitions(await console.ask(console.topics.partitions, topic))

        command = console.commands.headwater("topics", "describe", topic, "--offsets")
        with frame.page(request, topic, command, topic_tabs(topic, "Partitions")):
            if console.may(user_of(request), Action.DELETE_TOPIC):
                _endings(frame, topic, user_of(request))
            await Live(load).show()

    @ui.page(frame.at("/topics/{topic}/settings"), response_timeout=30)
    async def settings_page(request: Request, topic: str) -> None:
        async def load() -> Markup:
            return _settings(await console.ask(console.topics.settings, topic))

        command = console.commands.headwater("configs", "describe", "--topic", topic, "--all")
        with frame.page(request, topic, command, topic_tabs(topic, "Settings")):
            live = Live(load, None)
            if console.may(user_of(request), Action.ALTER_TOPIC):
                dialog = _change(frame, topic, user_of(request), live)
                ui.button("Change a setting", on_click=dialog.open).props("unelevated").style(
                    "margin-bottom: 10px"
                )
            await live.show()

    @ui.page(frame.at("/topics/{topic}/groups"), response_timeout=30)
    async def topic_groups_page(request: Request, topic: str) -> None:
        async def rows(wanted: Wanted) -> tuple[Page[GroupRow], list[list[object]]]:
            page = await console.ask(console.groups.page, wanted, topic)
            return page, [
                [group_link(row), row.state, row.members, count(row.lag)] for row in page.items
            ]

        headings = [
            Heading("Group", "name"),
            Heading("State", "state"),
            Heading("Members", "members", is_number=True),
            Heading("Lag in all its topics", "lag", is_number=True),
        ]
        listing = Listing(
            ("topics", topic, "groups"),
            wanted_in(request),
            headings,
            rows,
            nothing="No group has read it.",
        )
        command = console.commands.headwater("groups", "list")
        with frame.page(request, topic, command, topic_tabs(topic, "Groups")):
            await listing.show()


def _partitions(rows: list[PartitionRow]) -> Markup:
    shown = rows[:_MOST_PARTITIONS]
    cells = [
        (
            each.state.index,
            each.state.leader if each.state.leader >= 0 else UNKNOWN,
            ", ".join(map(str, each.state.replicas)),
            _in_sync(each),
            count(each.state.log_start_offset),
            count(each.state.high_watermark),
            count(each.records),
            size(each.size),
        )
        for each in shown
    ]
    headings = (
        *("Partition", "Leader", "Replicas", "In sync"),
        *("First offset", "End", "Records", "Size"),
    )
    more = f"{len(rows) - len(shown)} more are not shown." if len(rows) > len(shown) else None
    panel = tag("div", table(headings, cells, numbers=(0, 1, 4, 5, 6, 7)), class_="hw-panel")
    return join([panel, tag("p", more, class_="hw-soft") if more else None])


def _in_sync(row: PartitionRow) -> Markup:
    text = ", ".join(map(str, row.state.in_sync))
    is_whole = len(row.state.in_sync) == len(row.state.replicas)
    return tag("span", text or "none", class_=None if is_whole else "hw-pill warn")


def _settings(settings: Sequence[DocumentedSetting]) -> Markup:
    own = [each for each in settings if each.is_own]
    rest = [each for each in settings if not each.is_own]
    parts = [tag("h2", "Its own", style="margin-top: 4px")]
    if own:
        parts.append(_settings_table(own, with_default=True))
    else:
        parts.append(tag("p", "All settings are the broker's.", class_="hw-soft"))
    parts += [tag("h2", "The broker's"), _settings_table(rest, with_default=False)]
    return join(parts)


def _settings_table(settings: Sequence[DocumentedSetting], *, with_default: bool) -> Markup:
    rows = [
        (
            tag("span", each.name, class_="hw-mono"),
            tag("b" if each.is_own else "span", each.value, class_="hw-mono"),
            *((tag("span", each.default, class_="hw-mono"),) if with_default else ()),
            tag("span", each.documentation, class_="hw-soft"),
        )
        for each in settings
    ]
    headings = ("Setting", "Value", *(("Otherwise",) if with_default else ()), "What it does")
    return tag("div", table(headings, rows), class_="hw-panel")


def _change(frame: Frame, topic: str, user: str, live: Live) -> ui.dialog:
    console = frame.console
    with titled_dialog(f"Change a setting of {topic}") as dialog:
        name = ui.input("Setting, such as retention.ms").props("dense outlined").classes("w-full")
        value = ui.input("Value; empty takes the topic's own back").props("dense outlined")
        value.classes("w-full")
        said = html(Markup())

        async def change() -> None:
            setting = (name.value or "").strip()
            given = value.value if value.value != "" else None
            what = f"{topic}: {setting}={given}"
            await console.change(
                user, Action.ALTER_TOPIC, what, console.topics.set, topic, {setting: given}
            )

        async def attempt() -> None:
            if await attempted(said, change):
                dialog.close()
                await live.refresh()

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Change", on_click=attempt).props("unelevated")
    return dialog


def _endings(frame: Frame, topic: str, user: str) -> None:
    console = frame.console

    async def purge() -> None:
        await console.change(user, Action.PURGE_TOPIC, topic, console.topics.purge, topic)
        ui.notify(f"{topic} is empty now.")

    async def delete() -> None:
        await console.change(user, Action.DELETE_TOPIC, topic, console.topics.delete, topic)
        go("/topics")

    purging = confirm_typed(
        f"Purge {topic}",
        "All records that are in it now are deleted, and cannot be had back. The topic stays.",
        topic,
        "Purge",
        purge,
    )
    deleting = confirm_typed(
        f"Delete {topic}",
        "The topic is deleted with all of its records, which cannot be had back.",
        topic,
        "Delete",
        delete,
    )
    with ui.element("div").classes("hw-bar"):
        ui.button("Purge", on_click=purging.open).props("outline")
        ui.button("Delete topic", on_click=deleting.open).props("outline color=negative")
