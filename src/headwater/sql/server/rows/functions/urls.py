"""URLs and their parts, without the escapes in them; null for a part that is not there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, unquote, unquote_plus

from headwater.sql.server.rows.functions.java_uris import Uri, uri
from headwater.sql.server.rows.functions.row_call import CallMaker, strict

if TYPE_CHECKING:
    from collections.abc import Callable

_MALFORMED = re.compile(r"%(?![0-9a-fA-F]{2})")


def _part(part: Callable[[Uri], Any]) -> CallMaker:
    def find(url: str) -> Any:
        return part(uri(url))

    return strict(find)


def _plain(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _decoded(text: str) -> str:
    if _MALFORMED.search(text):
        raise ValueError("an escape without its digits")
    return unquote_plus(text)


def _encoded(text: str) -> str:
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


def _parameter(url: str, name: str) -> str | None:
    """Return the value of a parameter in the query; empty where it has none."""
    query = uri(url).query
    for pair in [] if query is None else query.split("&"):
        found, _, value = pair.partition("=")
        if _decoded(found) == name:
            return _decoded(value)
    return None


FUNCTIONS: dict[str, CallMaker] = {
    "URL_DECODE_PARAM": strict(_decoded),
    "URL_ENCODE_PARAM": strict(_encoded),
    "URL_EXTRACT_FRAGMENT": _part(lambda found: _plain(found.fragment)),
    "URL_EXTRACT_HOST": _part(lambda found: found.host),
    "URL_EXTRACT_PARAMETER": strict(_parameter),
    "URL_EXTRACT_PATH": _part(lambda found: _plain(found.path)),
    "URL_EXTRACT_PORT": _part(lambda found: found.port),
    "URL_EXTRACT_PROTOCOL": _part(lambda found: found.scheme),
    "URL_EXTRACT_QUERY": _part(lambda found: _plain(found.query)),
}
