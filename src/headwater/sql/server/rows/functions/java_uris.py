"""URIs as java.net.URI reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPE = "%[0-9a-fA-F]{2}"
# Letters of other alphabets are taken as they are, but for control characters and blanks.
_PLAIN = r"A-Za-z0-9_\-!.~'()*,;:$&+=@\u00a1-\u167f\u1681-\u1fff\u2010-\u2027\u2030-\u205e"
_PLAIN += r"\u2060-\u2fff\u3001-\U0010ffff"
_PATH = f"(?:[{_PLAIN}/]|{_ESCAPE})*"
_ANY = rf"(?:[{_PLAIN}/?\[\]]|{_ESCAPE})*"
_AUTHORITY = rf"(?:[{_PLAIN}\[\]]|{_ESCAPE})*"
_HIERARCHICAL = re.compile(
    rf"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):)?(?://(?P<authority>{_AUTHORITY}))?"
    rf"(?P<path>{_PATH})(?:\?(?P<query>{_ANY}))?(?:#(?P<fragment>{_ANY}))?"
)
_OPAQUE = re.compile(
    rf"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):(?P<rest>(?!/){_ANY})(?:#(?P<fragment>{_ANY}))?"
)
_NAME = r"(?:[A-Za-z0-9](?:[A-Za-z0-9\-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9\-]*[A-Za-z0-9])?\.?"
_NUMBERS = r"\d{1,3}(?:\.\d{1,3}){3}"
_SERVER = re.compile(
    rf"(?:[^@\[\]]*@)?(?P<host>{_NAME}|{_NUMBERS}|\[[0-9A-Fa-f:.]+(?:%\w+)?\])(?::(?P<port>\d*))?"
)


@dataclass(frozen=True)
class Uri:
    """The parts of a URI, escaped as they are written."""

    scheme: str | None = None
    host: str | None = None
    port: int | None = None
    path: str | None = None
    query: str | None = None
    fragment: str | None = None


def uri(text: str) -> Uri:
    """Return the parts of a URI; raises ValueError for what is none."""
    opaque = _OPAQUE.fullmatch(text)
    if opaque is not None:
        if not opaque["rest"]:
            raise ValueError("there is nothing after the scheme")
        return Uri(opaque["scheme"], fragment=opaque["fragment"])
    found = _HIERARCHICAL.fullmatch(text)
    if found is None:
        raise ValueError("no URI")
    scheme, authority, path, query, fragment = found.groups()
    if scheme is None and authority is None and ":" in path.partition("/")[0]:
        raise ValueError("a scheme begins with a letter")
    if authority == "" and not (path or query is not None or fragment is not None):
        raise ValueError("there is no authority after //")
    server = _SERVER.fullmatch(authority or "")
    if server is None:
        return Uri(scheme, None, None, path, query, fragment)
    port = int(server["port"]) if server["port"] else None
    return Uri(scheme, server["host"], port, path, query, fragment)
