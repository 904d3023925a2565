"""The key of a query's result: which selected columns it is, and that none is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.formatter.expressions import format_expression
from headwater.sql.metastore.source import RESERVED_COLUMNS, SourceColumn, key_role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.analysis.query.analysed import KeyPart, SelectedColumn
    from headwater.sql.location import Location
    from headwater.sql.tree.statements.creation import SourceKind


@dataclass(frozen=True)
class Keyed:
    """Selected columns of which those of the key are marked, and the schema they make."""

    selected: tuple[SelectedColumn, ...]
    columns: tuple[SourceColumn, ...]


def with_keys(
    selected: Sequence[SelectedColumn],
    key: Sequence[KeyPart],
    kind: SourceKind,
    what: str,
    location: Location,
) -> Keyed:
    """Mark the columns of the key, each of which a stored result has exactly once."""
    marked = list(selected)
    order: list[int] = []
    missing: list[KeyPart] = []
    for part in key:
        places = _places(marked, part)
        if not places:
            missing.append(part)
            continue
        order.append(places[0])
        marked[places[0]] = replace(marked[places[0]], is_key=True)
    if missing:
        raise SqlError(_missing(missing, what), location)
    _check_names(marked)
    keys = [_column(marked[place], kind) for place in order]
    values = [_column(column, kind) for column in marked if not column.is_key]
    return Keyed(tuple(marked), (*keys, *values))


def without_keys(selected: Sequence[SelectedColumn], kind: SourceKind) -> Keyed:
    """Return the columns of a result that nobody stores, and that so needs no key."""
    return Keyed(tuple(selected), tuple(_column(column, kind) for column in selected))


def _places(selected: Sequence[SelectedColumn], part: KeyPart) -> list[int]:
    """Return where the key column is; the first of its choices that is selected at all counts."""
    for choice in part.choices:
        places = [place for place, column in enumerate(selected) if column.expression == choice]
        if len(places) > 1:
            first, second = (selected[place] for place in places[:2])
            raise SqlError(
                f"the key column {format_expression(choice)} is selected twice, as {first.name} "
                f"and {second.name}: write AS_VALUE({format_expression(choice)}) for one of them",
                second.expression.location,
            )
        if places:
            return places
    return []


def _missing(missing: Sequence[KeyPart], what: str) -> str:
    listed = ", ".join(
        " or ".join(format_expression(choice) for choice in part.choices) for part in missing
    )
    synthetic = next((part for part in missing if part.is_synthetic), None)
    why = (
        ""
        if synthetic is None
        else f" ({synthetic.name} is the key of the pairs, since no column of a source is)"
    )
    return f"the {what} {listed} has to be selected: it is the key of the result{why}"


def _check_names(selected: Sequence[SelectedColumn]) -> None:
    seen: set[str] = set()
    for column in selected:
        if column.name in RESERVED_COLUMNS:
            raise SqlError(
                f"{column.name} is a column that every row has by itself: give this one another "
                "name with AS",
                column.expression.location,
            )
        if column.name in seen:
            raise SqlError(
                f"two columns of the result are called {column.name}: give one another name with "
                "AS",
                column.expression.location,
            )
        seen.add(column.name)


def _column(column: SelectedColumn, kind: SourceKind) -> SourceColumn:
    if column.is_key:
        return SourceColumn(column.name, column.value.type, key_role(kind))
    return SourceColumn(column.name, column.value.type)
