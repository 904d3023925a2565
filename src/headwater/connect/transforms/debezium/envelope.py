"""Debezium's envelope of a change: before, after, source, op and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.config import ConfigError
from headwater.connect.data.schema import Type
from headwater.connect.transforms.field_path import FieldPath

if TYPE_CHECKING:
    from headwater.connect.data.schema import Schema

_ON_TOP = ("op", "ts_ms", "ts_us", "ts_ns")


class Added(NamedTuple):
    """A field of the envelope, or of the source in it, and its name in the record or header."""

    path: FieldPath
    name: str


def is_envelope(schema: Schema) -> bool:
    """Whether a schema is that of a change event."""
    after = schema.field("after")
    has_row = after is not None and after.schema.type is Type.STRUCT
    return schema.type is Type.STRUCT and has_row and schema.field("op") is not None


def read_added(specs: tuple[str, ...], prefix: str, setting: str) -> tuple[Added, ...]:
    """Read names such as `op`, `table`, `source.ts_ms` or `source.lsn:position`.

    >>> [added.name for added in read_added(("op", "source.ts_ms", "db:of"), "__", "add.fields")]
    ['__op', '__source_ts_ms', '__of']
    """
    return tuple(_added(spec.strip(), prefix, setting) for spec in specs if spec.strip())


def _added(spec: str, prefix: str, setting: str) -> Added:
    path, colon, name = spec.partition(":")
    if not path or (colon and not name):
        raise ConfigError(setting, spec, "it is a field, or a field and its new name: op:operation")
    if "." not in path and path not in _ON_TOP:
        return Added(FieldPath(f"source.{path}", "V2"), prefix + (name or path))
    return Added(FieldPath(path, "V2"), prefix + (name or path.replace(".", "_")))
