"""Folds that keep values: collected, the first and the last ones, the greatest ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType

from headwater.spark.aggregations.aggregation import Fold, StateField, same, type_of, value_and_old

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.spark.aggregations.aggregation import Aggregation, FoldMaker

# Spark's arrays are counted with numbers of four bytes.
_NO_LIMIT = 2_147_483_647
_GREATEST_FIRST = "(_l, _r) -> CASE WHEN _l.v > _r.v THEN -1 WHEN _l.v < _r.v THEN 1 ELSE 0 END"
_EARLIEST_FIRST = "(_l, _r) -> CASE WHEN _l.at < _r.at THEN -1 WHEN _l.at > _r.at THEN 1 ELSE 0 END"


def _collect_list(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    both, element = value_and_old(rows, aggregation)
    old, new = _sides(prefix)
    kept = _kept(prefix)
    # Where a value is there several times, the last one is taken back.
    places = f"transform({kept}, (_x, _i) -> if({same('_x', f'{old}.v', element)}, _i, -1))"
    left = f"filter({kept}, (_x, _i) -> _i <> coalesce(array_max({places}), -1))"
    if aggregation.old is not None:
        kept = f"if({old} IS NULL, {kept}, {left})"
    limit = aggregation.limit or _NO_LIMIT
    added = f"slice(concat({kept}, array({new}.v)), 1, {limit})"
    update = f"if({new} IS NULL, {kept}, {added})"
    merge = f"slice(concat({_kept(prefix)}, {_other(prefix)}), 1, {limit})"
    field = StateField(prefix, ArrayType(element), update, merge)
    return Fold(both, (field,), f"state.{prefix}")


def _collect_set(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    both, element = value_and_old(rows, aggregation)
    _, new = _sides(prefix)
    kept, other, limit = _kept(prefix), _other(prefix), aggregation.limit or _NO_LIMIT
    is_there = f"exists({kept}, _x -> {same('_x', f'{new}.v', element)})"
    update = f"if({is_there} OR size({kept}) >= {limit}, {kept}, concat({kept}, array({new}.v)))"
    unseen = f"filter({other}, _x -> NOT exists({kept}, _y -> {same('_x', '_y', element)}))"
    merge = f"slice(concat({kept}, {unseen}), 1, {limit})"
    field = StateField(prefix, ArrayType(element), update, merge)
    return Fold(both, (field,), f"state.{prefix}")


def _by_offset(*, is_earliest: bool) -> FoldMaker:
    """Keep values with the place at which they arrived, so that sessions can be merged."""

    def make(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
        both, _ = value_and_old(rows, aggregation)
        _, new = _sides(prefix)
        kept, limit = _kept(prefix), aggregation.limit or 1
        first = f"slice({{0}}, 1, {limit})"
        last = f"slice({{0}}, greatest(size({{0}}) - {limit - 1}, 1), {limit})"
        chosen = first if is_earliest else last
        counts = f"{new}.v IS NOT NULL" if aggregation.ignore_nulls else "true"
        update = f"if({counts}, {chosen.format(f'concat({kept}, array({new}))')}, {kept})"
        in_order = f"array_sort(concat({kept}, {_other(prefix)}), {_EARLIEST_FIRST})"
        struct = type_of(rows, both)["new"].dataType  # type: ignore[index]
        field = StateField(prefix, ArrayType(struct), update, chosen.format(in_order))
        result = f"transform(state.{prefix}, _x -> _x.v)"
        if aggregation.limit is None:
            result = f"try_element_at({result}, 1)"
        return Fold(both, (field,), result)

    return make


def _topk(*, is_distinct: bool) -> FoldMaker:
    """Keep the greatest values, and of those that are equal the earlier ones."""

    def make(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
        if aggregation.limit is None:
            raise ValueError(f"{aggregation.function} as {aggregation.name} needs to know how many")
        both, _ = value_and_old(rows, aggregation)
        _, new = _sides(prefix)
        kept, other = _kept(prefix), _other(prefix)
        struct = type_of(rows, both)["new"].dataType  # type: ignore[index]
        skipped = f"{new}.v IS NULL"
        if is_distinct:
            skipped += f" OR exists({kept}, _x -> _x.v = {new}.v)"
            other = f"filter({other}, _x -> NOT exists({kept}, _y -> _x.v = _y.v))"

        def greatest(values: str) -> str:
            return f"slice(array_sort({values}, {_GREATEST_FIRST}), 1, {aggregation.limit})"

        update = f"if({skipped}, {kept}, {greatest(f'concat({kept}, array({new}))')})"
        merge = greatest(f"concat({kept}, {other})")
        others = "".join(f", 'col{i}', _x.v{i}" for i in range(len(struct.names) - 1))
        element = f"named_struct('sort_col', _x.v{others})" if others else "_x.v"
        field = StateField(prefix, ArrayType(struct), update, merge)
        return Fold(both, (field,), f"transform(state.{prefix}, _x -> {element})")

    return make


def _sides(prefix: str) -> tuple[str, str]:
    return f"row.{prefix}.old", f"row.{prefix}.new"


def _kept(prefix: str) -> str:
    return f"coalesce(state.{prefix}, array())"


def _other(prefix: str) -> str:
    return f"coalesce(row.{prefix}, array())"


LISTS: dict[str, FoldMaker] = {
    "collect_list": _collect_list,
    "collect_set": _collect_set,
    "earliest_by_offset": _by_offset(is_earliest=True),
    "latest_by_offset": _by_offset(is_earliest=False),
    "topk": _topk(is_distinct=False),
    "topkdistinct": _topk(is_distinct=True),
}
