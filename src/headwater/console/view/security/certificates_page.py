"""Certificates of brokers and services: for whom, by whom, and for how long still."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.view.formats import UNKNOWN, count
from headwater.console.view.frame import Live
from headwater.console.view.markup import Markup, table, tag
from headwater.console.view.security.security_tabs import security_tabs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.security.certificates import ShownCertificate
    from headwater.console.view.frame import Frame

_SOON_DAYS = 30
_NOTHING = (
    "None of the servers that this console speaks to speaks TLS; headwater up --secure starts a "
    "platform in which all do."
)


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/security/certificates"), response_timeout=30)
    async def certificates_page(request: Request) -> None:
        async def load() -> Markup:
            return shown(await console.ask(console.certificates.all))

        with frame.page(request, "Security", "headwater doctor", security_tabs("Certificates")):
            await Live(load, None).show()


def shown(found: Sequence[ShownCertificate]) -> Markup:
    """Return all of them as a table."""
    if not found:
        return tag("p", _NOTHING, class_="hw-soft")
    headings = ("Of", "Address", "For whom", "Issued by", "Until (UTC)", "Days left", "")
    return tag("div", table(headings, map(_row, found), numbers=(5,)), class_="hw-panel")


def _row(each: ShownCertificate) -> tuple[object, ...]:
    if each.certificate is None:
        why = tag("span", each.problem, class_="hw-soft")
        return (each.who, each.address, why, "", UNKNOWN, UNKNOWN, _pill("bad", "not seen"))
    left = each.days_left or 0
    if left < 0:
        pill = _pill("bad", "expired")
    else:
        pill = _pill("warn", "soon") if left < _SOON_DAYS else _pill("good", "good")
    until = each.certificate.not_after.strftime("%Y-%m-%d %H:%M")
    return (
        each.who,
        each.address,
        each.certificate.subject,
        each.certificate.issuer,
        until,
        count(left),
        pill,
    )


def _pill(kind: str, text: str) -> Markup:
    return tag("span", text, class_=f"hw-pill {kind}")
