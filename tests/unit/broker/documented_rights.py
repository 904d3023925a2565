"""The table of docs/acls.md: which rights each API asks for, and what it says without them."""

from __future__ import annotations

import re

from tests.docs_page import ROOT

from headwater.protocol.api_keys import ApiKey

Right = tuple[str, str]
"""An operation, and the type of the resource."""
Row = tuple[ApiKey, Right]


def documented_rights() -> dict[Row, set[str]]:
    """Each row of the table, with the error codes in it."""
    documented: dict[Row, set[str]] = {}
    for line in (ROOT / "docs/acls.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0] in _API_KEYS:
            row = (_API_KEYS[cells[0]], (cells[1], cells[2]))
            assert row not in documented, line
            documented[row] = set(re.findall(r"`(\w+_AUTHORIZATION_FAILED)`", cells[3]))
    return documented


_API_KEYS = {
    "".join(word.capitalize() for word in api_key.name.split("_")): api_key for api_key in ApiKey
}
