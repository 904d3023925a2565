"""The views of security."""

from __future__ import annotations

from headwater.console.view.frame import Tab

_PLACES = {
    "Rights": "/security",
    "Users": "/security/users",
    "Quotas": "/security/quotas",
    "Certificates": "/security/certificates",
}


def security_tabs(current: str) -> list[Tab]:
    """Return all of them."""
    return [Tab(label, href, label == current) for label, href in _PLACES.items()]
