"""The formats of topics: named by the user, or the natural one for a type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.plan.errors import PlanError
from headwater.plan.formats import KINDS, Format
from headwater.plan.schemas.registry_types import subject_type
from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    STRING,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.nodes import TopicSource
    from headwater.plan.schemas.types import DataType
    from headwater.serde import SchemaRegistryClient

FormatLike: TypeAlias = str | Format
Side: TypeAlias = Literal["key", "value"]

_NATURAL = {STRING: "string", BIGINT: "long", DOUBLE: "double", BINARY: "bytes"}
_WRITES: dict[str, tuple[DataType, ...]] = {
    "string": (STRING,),
    "int": (INT,),
    "long": INTEGERS,
    "double": (FLOAT, DOUBLE),
    "bytes": (BINARY,),
}


def as_format(given: FormatLike) -> Format:
    """Return a format by its name."""
    if isinstance(given, Format):
        return given
    if given not in KINDS:
        raise PlanError(f"there is no format {given!r} (there are {', '.join(KINDS)})")
    return Format(given)


def read_type(
    format_: Format,
    declared: DataType | None,
    topics: tuple[str, ...],
    side: Side,
    registry: Callable[[], SchemaRegistryClient],
) -> tuple[Format, DataType]:
    """Return the type of what a source reads; the registry is asked only where nothing else says.

    The format comes back with the schema that was found.
    """
    fixed = format_.fixed_type
    if fixed is not None:
        if declared not in (None, fixed):
            assert declared is not None
            raise PlanError(
                f"the {side} is read as {format_.kind}, which is {fixed.ddl()} and not "
                f"{declared.ddl()}: leave {side}_type out, or name another format"
            )
        return format_, fixed
    if declared is not None:
        return format_, declared
    if not format_.needs_registry:
        raise PlanError(
            f"{format_.kind} has no types of its own: give {side}_type, as "
            f'"id string, value double" or as a dataclass'
        )
    subject = format_.subject or f"{topics[0]}-{side}"
    found = subject_type(registry(), subject, format_.kind)
    read = replace(format_, schema=found.text, references=found.references)
    return read, found.type


def written_format(
    given: FormatLike | None, type_: DataType, side: Side, source: TopicSource | None
) -> Format:
    """Return the format to write a type in: the one named, or the natural one.

    That is the number's or the text's own, and for anything else what the source was read in
    where that is Avro, and JSON otherwise. What is as it was read keeps its Protobuf schema, which
    no type could tell. The source is the topic above, if there is one.
    """
    was, was_type = _read_as(side, source)
    if given is None:
        is_avro = was is not None and was.kind == "avro" and isinstance(type_, Struct)
        inherited = "avro" if is_avro else "json"
        return Format(_NATURAL.get(type_, inherited))  # type: ignore[arg-type]
    format_ = as_format(given)
    accepted = _WRITES.get(format_.kind)
    if accepted is not None and type_ not in accepted:
        names = " or ".join(each.ddl() for each in accepted)
        raise PlanError(
            f"the {side} is {type_.ddl()}, and the format {format_.kind} writes {names}: "
            f"cast it, or write it as json"
        )
    if was is None or type_ != was_type or format_.schema is not None:
        return format_
    if format_.kind == was.kind == "protobuf":
        return replace(format_, schema=was.schema, references=was.references)
    return format_


def _read_as(side: Side, source: TopicSource | None) -> tuple[Format | None, DataType | None]:
    if source is None:
        return None, None
    if side == "key":
        return source.key_format, source.row.key
    return source.value_format, source.row.value
