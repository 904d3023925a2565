"""Finds what a `$ref` in a JSON Schema points to, in the same document or in a referenced one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

from headwater.registry.formats.base import InvalidSchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_META_SCHEMAS = (
    "http://json-schema.org/",
    "https://json-schema.org/",
)


class Documents:
    """All documents that a schema can refer to, by their addresses."""

    def __init__(self, root: Any, references: Mapping[str, Any]) -> None:
        self._places: dict[str, tuple[Any, str]] = {}
        self.base = self._identify(root, "")
        self._add(root, "")
        self._places.setdefault(self.base, (root, self.base))
        for name, document in references.items():
            for address in (name, _join(self.base, name)):
                self._places.setdefault(_without_fragment(address), (document, address))
            self._add(document, name)

    def resolve(self, reference: str, base: str) -> tuple[Any, str]:
        """Return what is referred to and the base for its own references.

        Raises InvalidSchemaError for what cannot be found.
        """
        address, fragment = urldefrag(_join(base, reference))
        if fragment and not fragment.startswith("/"):
            anchored = self._places.get(f"{address}#{fragment}")
            if anchored is None:
                raise InvalidSchemaError(f"$ref '{reference}': there is no anchor '{fragment}'")
            return anchored
        own_address = urldefrag(reference)[0]
        for candidate in (address, own_address, own_address.removeprefix("./")):
            if candidate in self._places:
                document, document_base = self._places[candidate]
                return _at(document, fragment, reference), document_base
        if address.startswith(_META_SCHEMAS):
            return {}, address  # everybody knows these, and nobody changes them
        raise InvalidSchemaError(
            f"$ref '{reference}': there is no such schema. Give it as a reference of that name; "
            "schemas are never fetched from elsewhere"
        )

    def base_of(self, schema: Any, base: str) -> str:
        """Return the base for references inside a schema that may have an id of its own."""
        return self._identify(schema, base)

    def _add(self, document: Any, base: str) -> None:
        for schema, schema_base in _walk(document, base):
            own = self._identify(schema, schema_base)
            if own != schema_base:
                self._places.setdefault(_without_fragment(own), (schema, own))
            for keyword in ("$anchor", "$dynamicAnchor"):
                anchor = schema.get(keyword)
                if isinstance(anchor, str):
                    self._places.setdefault(f"{_without_fragment(own)}#{anchor}", (schema, own))
            identity = schema.get("$id", schema.get("id"))
            if isinstance(identity, str) and identity.startswith("#"):
                place = f"{_without_fragment(schema_base)}{identity}"
                self._places.setdefault(place, (schema, schema_base))

    def _identify(self, schema: Any, base: str) -> str:
        return _identity(schema, base)


def _identity(schema: Any, base: str) -> str:
    if not isinstance(schema, dict):
        return base
    identity = schema.get("$id")
    if not isinstance(identity, str):
        identity = schema.get("id") if "draft-04" in str(schema.get("$schema", "")) else None
    if not isinstance(identity, str) or identity.startswith("#"):
        return base
    return _without_fragment(_join(base, identity))


def _walk(schema: Any, base: str) -> Iterator[tuple[dict[str, Any], str]]:
    stack = [(schema, base)]
    while stack:
        current, current_base = stack.pop()
        if isinstance(current, dict):
            yield current, current_base
            inner = _identity(current, current_base)
            stack += [
                (value, inner)
                for key, value in current.items()
                if key not in ("enum", "const", "default", "examples")
            ]
        elif isinstance(current, list):
            stack += [(value, current_base) for value in current]


def _at(document: Any, pointer: str, reference: str) -> Any:
    found = document
    for part in unquote(pointer).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        elif found is document and key == "$defs" and "definitions" in found:
            found = found["definitions"]  # both names are in use, whatever the draft says
        else:
            raise InvalidSchemaError(f"$ref '{reference}': it points at nothing")
    return found


def _join(base: str, reference: str) -> str:
    # urljoin does not know every scheme, but a fragment can be put behind any address.
    if reference.startswith("#"):
        return _without_fragment(base) + reference
    return urljoin(base, reference)


def _without_fragment(address: str) -> str:
    return urldefrag(address)[0]
