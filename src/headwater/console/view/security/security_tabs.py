"""The views of security, and what those of rights say where nobody is asked for any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.model.records.questions import ConsoleError
from headwater.console.view.frame import Tab, html, note

if TYPE_CHECKING:
    from headwater.console.view.frame import Frame

_PLACES = {
    "Rights": "/security",
    "Matrix": "/security/matrix",
    "Who may": "/security/who",
    "Users": "/security/users",
    "Quotas": "/security/quotas",
    "Certificates": "/security/certificates",
}
_NO_AUTHORIZER = (
    "Every client that reaches the brokers may do everything. Set authorizer.class.name, or start "
    "the platform with headwater up --secure; docs/acls.md has more."
)


def security_tabs(current: str) -> list[Tab]:
    """Return all of them."""
    return [Tab(label, href, label == current) for label, href in _PLACES.items()]


async def has_rights(frame: Frame) -> bool:
    """Tell whether rights are asked for in the cluster, and say so where not."""
    try:
        if await frame.console.ask(frame.console.security.has_authorizer):
            return True
    except ConsoleError as failure:
        html(note("error", str(failure)))
        return False
    html(note("warning", "The cluster has no authorizer.", _NO_AUTHORIZER))
    return False
