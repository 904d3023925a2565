"""One record by itself: read, copied, sent again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.fields import described, to_copy
from headwater.console.model.records.records import Query
from headwater.console.model.records.resending import RecordPlace
from headwater.console.model.security.roles import Action
from headwater.console.view.formats import path
from headwater.console.view.frame import Live, copies, html, note, user_of
from headwater.console.view.markup import Markup, link, tag
from headwater.console.view.records.record_table import record_detail
from headwater.console.view.records.resend_dialog import resend_dialog

if TYPE_CHECKING:
    from headwater.console.model.records.records import Record
    from headwater.console.view.frame import Frame


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/topics/{topic}/records/{partition}/{offset}"), response_timeout=30)
    async def record_page(request: Request, topic: str, partition: int, offset: int) -> None:
        query = Query(topic, str(offset), partition, limit=1)
        title = f"{topic} [{partition}] at offset {offset}"
        with frame.page(request, title, console.commands.consume(query)):
            html(tag("p", link(f"All records of {topic}", path("topics", topic))))
            bar = ui.element("div").classes("hw-bar")
            user = user_of(request)

            async def load() -> Markup:
                page = await console.ask(console.records.page, query)
                if not page.records or page.records[0].offset != offset:
                    gone = "There is no record at this offset; it was deleted or compacted."
                    return note("warning", gone)
                with bar:
                    _buttons(frame, page.records[0], user)
                return record_detail(page.records[0])

            await Live(load, None).show()


def _buttons(frame: Frame, record: Record, user: str) -> None:
    shown = to_copy(record)
    is_cut = any(it.is_cut and it.value == it.text for it in (shown.key, shown.value))
    said = "Copied, as far as it is shown." if is_cut else "Copied."
    copy = ui.button("Copy as JSON", on_click=lambda: ui.notify(said)).props("outline")
    copies(copy, json.dumps(described(shown), ensure_ascii=False, indent=2, default=str))
    if frame.console.may(user, Action.PRODUCE):
        place = RecordPlace(record.topic, record.partition, record.offset)
        dialog = resend_dialog(frame, place, user)
        ui.button("Send again", on_click=dialog.open).props("outline")
