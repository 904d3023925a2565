"""A group: how far it is behind and who reads what, and moving it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.groups.groups import SHARE
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import confirm_typed
from headwater.console.view.formats import count, path, seconds
from headwater.console.view.frame import Live, figures, user_of
from headwater.console.view.groups.groups_page import state_pill
from headwater.console.view.groups.lag_chart import lag_chart
from headwater.console.view.groups.reset_dialog import reset_dialog
from headwater.console.view.markup import Markup, join, link, table, tag
from headwater.console.view.place import go

if TYPE_CHECKING:
    from headwater.console.model.groups.groups import GroupDetail, ShareGroupDetail
    from headwater.console.view.frame import Frame

_MOST_PARTITIONS = 1_000
_VERDICTS = {"OK": "good", "WARN": "warn"}


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/groups/{group:path}"), response_timeout=30)
    async def group_page(request: Request, group: str) -> None:
        if request.query_params.get("kind") == SHARE:
            await _share_group(frame, request, group)
            return

        async def load() -> Markup:
            return _shown(await console.ask(console.groups.detail, group))

        async def delete() -> None:
            await console.change(
                user_of(request), Action.DELETE_GROUP, group, console.groups.delete, group
            )
            go("/groups")

        command = console.commands.headwater("groups", "describe", group)
        with frame.page(request, group, command):
            live = Live(load)
            if console.may(user_of(request), Action.RESET_GROUP):
                resetting = reset_dialog(frame, group, user_of(request), live)
                deleting = confirm_typed(
                    f"Delete {group}",
                    "The group is deleted with its offsets; the next one of this name starts anew.",
                    group,
                    "Delete",
                    delete,
                )
                with ui.element("div").classes("hw-bar"):
                    ui.button("Reset offsets", on_click=resetting.open).props("outline")
                    button = ui.button("Delete group", on_click=deleting.open)
                    button.props("outline color=negative")
            await live.show()


async def _share_group(frame: Frame, request: Request, group: str) -> None:
    """Show a group whose members share partitions; it has no offsets that could be moved."""
    console = frame.console

    async def load() -> Markup:
        return _share_shown(await console.ask(console.groups.share_detail, group))

    with frame.page(request, group, console.commands.share_group(group)):
        await Live(load).show()


def _share_shown(detail: ShareGroupDetail) -> Markup:
    row = detail.row
    known = [
        ("Kind", row.kind),
        ("State", state_pill(row.state)),
        ("Members", count(row.members)),
        ("Lag in records", count(row.lag)),
    ]
    rows = [
        (
            link(each.topic, path("topics", each.topic)),
            each.partition,
            count(each.start_offset),
            count(each.end),
            count(each.lag),
            ", ".join(f"{owner.client_id} {owner.host}" for owner in each.readers),
        )
        for each in detail.partitions[:_MOST_PARTITIONS]
    ]
    headings = ("Topic", "Partition", "Start offset", "End", "Lag", "Members")
    shown = tag("div", table(headings, rows, numbers=(1, 2, 3, 4)), class_="hw-panel")
    return join([figures(known), lag_chart(detail.history), shown])


def _shown(detail: GroupDetail) -> Markup:
    row, verdict = detail.row, detail.verdict
    known = [
        ("Kind", row.kind),
        ("State", state_pill(row.state)),
        ("Members", count(row.members)),
        ("Lag in records", count(row.lag)),
        ("Lag in time", seconds(None if verdict is None else verdict.seconds)),
    ]
    parts: list[object] = [figures(known)]
    if verdict is not None:
        pill = tag("span", verdict.status, class_=f"hw-pill {_VERDICTS.get(verdict.status, 'bad')}")
        parts.append(tag("p", "Verdict: ", pill, " ", verdict.reason))
    parts.append(lag_chart(detail.history))
    rows = [
        (
            link(each.topic, path("topics", each.topic)),
            each.partition,
            count(each.offset),
            count(each.end),
            count(each.lag),
            seconds(each.seconds),
            each.status,
            "" if each.owner is None else f"{each.owner.client_id} {each.owner.host}",
        )
        for each in detail.partitions[:_MOST_PARTITIONS]
    ]
    headings = ("Topic", "Partition", "Offset", "End", "Lag", "Lag in time", "Verdict", "Member")
    parts.append(tag("div", table(headings, rows, numbers=(1, 2, 3, 4, 5)), class_="hw-panel"))
    return join(parts)
