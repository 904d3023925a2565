"""A schema's text with the texts it refers to: all that is needed to parse it, anywhere."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from headwater.registry.errors import invalid_schema
from headwater.registry.formats import FORMATS, InvalidSchemaError, ParsedSchema
from headwater.registry.subjects import DEFAULT_CONTEXT, QualifiedSubject, beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.registry.entities import SchemaReference
    from headwater.registry.store import SchemaStore, StoredSchema

MAX_CACHED = 1000


class SchemaSource(NamedTuple):
    """What to parse. Equal sources are parsed once."""

    type: str
    text: str
    references: tuple[tuple[str, str], ...] = ()

    def parse(self, *, is_new: bool = False) -> ParsedSchema:
        """Return the schema, understood; raises RegistryError 42201."""
        return _parse(self, is_new)


def source_of(store: SchemaStore, schema: StoredSchema) -> SchemaSource:
    """Return the source of a schema that is in the store."""
    references = resolve_references(store, schema.subject, schema.references)
    return SchemaSource(schema.type, schema.text, references)


def resolve_references(
    store: SchemaStore, subject: str, references: Iterable[SchemaReference]
) -> tuple[tuple[str, str], ...]:
    """Return the texts that references lead to, by name, each after those it needs itself.

    Raises RegistryError 42201 for a reference to what does not exist.
    """
    found: dict[str, str] = {}
    _resolve(store, subject, references, found, ())
    return tuple(found.items())


def find_version(
    store: SchemaStore, subject: str, version: int, *, deleted: bool = False
) -> StoredSchema | None:
    """Return a subject's version; a name without a context is looked for in all of them."""
    found = store.version(subject, version, deleted=deleted)
    name = QualifiedSubject.parse(subject)
    if found is not None or name.context != DEFAULT_CONTEXT:
        return found
    for context in sorted(store.contexts):
        qualified = str(QualifiedSubject(context, name.subject))
        found = store.version(qualified, version, deleted=deleted)
        if found is not None:
            return found
    return None


def _resolve(
    store: SchemaStore,
    subject: str,
    references: Iterable[SchemaReference],
    found: dict[str, str],
    path: tuple[tuple[str, int], ...],
) -> None:
    for reference in references:
        if reference.name in found:
            continue
        name = beside(reference.subject, subject)
        referred = find_version(store, name, reference.version, deleted=True)
        if referred is None:
            raise invalid_schema(
                f'No schema reference found for subject "{reference.subject}" and version '
                f"{reference.version}"
            )
        if (referred.subject, referred.version) in path:
            raise invalid_schema(f'The schema references of subject "{name}" go in a circle')
        inner = (*path, (referred.subject, referred.version))
        _resolve(store, referred.subject, referred.references, found, inner)
        found[reference.name] = referred.text


@lru_cache(MAX_CACHED)
def _parse(source: SchemaSource, is_new: bool) -> ParsedSchema:
    format_ = FORMATS.get(source.type)
    if format_ is None:
        known = ", ".join(FORMATS)
        raise invalid_schema(f"Invalid schema type {source.type}; there are {known}")
    try:
        return format_.parse(source.text, dict(source.references), is_new=is_new)
    except InvalidSchemaError as failure:
        raise invalid_schema(f"Invalid schema of type {source.type}, details: {failure}") from None
