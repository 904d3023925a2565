"""Joins of sources whose keys have windows in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.query.analysed import ReadRelation, ReadSource, sources_of
from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import WindowKind
from headwater.sql.tree.expressions import Column

if TYPE_CHECKING:
    from headwater.sql.analysis.typed import Typed
    from headwater.sql.tree.queries import Join


def check_windows(
    join: Join, left: ReadRelation, right: ReadSource, left_key: Typed, right_key: Typed
) -> None:
    """Refuse joins of windowed with other sources, and windowed ones not joined by their keys."""
    (first, *_) = sources_of(left)
    ours, theirs = first.source.window, right.source.window
    location = join.right.location
    if ours is None and theirs is None:
        return
    if ours is None or theirs is None:
        with_, without = (first, right) if theirs is None else (right, first)
        raise SqlError(
            f"{with_.alias} has windows and {without.alias} has none: they cannot be joined",
            location,
        )
    if (ours.kind is WindowKind.SESSION) != (theirs.kind is WindowKind.SESSION):
        raise SqlError(
            f"{first.alias} has {ours.kind.value} windows and {right.alias} {theirs.kind.value} "
            "ones: sessions can be joined with sessions alone",
            location,
        )
    if ours.size_ms != theirs.size_ms:
        raise SqlError(
            f"the windows of {first.alias} and {right.alias} differ in size: they cannot be joined",
            location,
        )
    for read, key in ((first, left_key), (right, right_key)):
        names = [column.name for column in read.source.key]
        if key.expression != Column(names[0], read.alias) or len(names) > 1:
            raise SqlError(
                f"{read.alias} has windows in its key, so that it is joined by that key alone: "
                f"{', '.join(names)}",
                join.on.location,
            )
