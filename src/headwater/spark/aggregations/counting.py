"""Folds that count values by what they are: the different ones, a histogram, the only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType, LongType, MapType, StringType, StructType

from headwater.spark.aggregations.aggregation import Fold, StateField, same, value_and_old

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from headwater.spark.aggregations.aggregation import Aggregation, FoldMaker

_NO_LIMIT = 2_147_483_647


def _count_distinct(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    """Count how often each value's hash was there, so that values can be taken back."""
    both, _ = value_and_old(rows, aggregation)
    field = _counts(aggregation, prefix, "hex(xxhash64({0}.v))")
    return Fold(both, (field,), f"cast(size(state.{prefix}) AS bigint)")


def _histogram(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    both, _ = value_and_old(rows, aggregation)
    field = _counts(aggregation, prefix, "{0}.v")
    return Fold(both, (field,), f"state.{prefix}")


def _counts(aggregation: Aggregation, prefix: str, key_of: str) -> StateField:
    """Return a map of keys and counts, from which keys with a count of 0 are gone."""
    old, new = f"row.{prefix}.old", f"row.{prefix}.new"
    kept = f"coalesce(state.{prefix}, map())"
    if aggregation.old is not None:
        left = f"map_filter({_together(kept, _one(key_of, old), '-')}, (_k, _n) -> _n > 0L)"
        kept = f"if({old}.v IS NULL, {kept}, {left})"
    limit = aggregation.limit or _NO_LIMIT
    is_full = f"size({kept}) >= {limit} AND NOT map_contains_key({kept}, {key_of.format(new)})"
    added = _together(kept, _one(key_of, new), "+")
    update = f"CASE WHEN {new}.v IS NULL OR ({is_full}) THEN {kept} ELSE {added} END"
    merged = _together(f"coalesce(state.{prefix}, map())", f"coalesce(row.{prefix}, map())", "+")
    return StateField(prefix, MapType(StringType(), LongType()), update, merged)


def _one(key_of: str, side: str) -> str:
    return f"map({key_of.format(side)}, 1L)"


def _together(left: str, right: str, sign: str) -> str:
    counts = f"coalesce(_a, 0L) {sign} coalesce(_b, 0L)"
    return f"map_zip_with({left}, {right}, (_k, _a, _b) -> {counts})"


def _attr(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    """Keep each different value, null too, with how often it is there."""
    both, value = value_and_old(rows, aggregation)
    old, new = f"row.{prefix}.old", f"row.{prefix}.new"
    kept = f"coalesce(state.{prefix}, array())"
    if aggregation.old is not None:
        fewer = f"transform({kept}, _x -> {_counted('_x', same('_x.v', f'{old}.v', value), '-')})"
        kept = f"if({old} IS NULL, {kept}, filter({fewer}, _x -> _x.n > 0L))"
    more = f"transform({kept}, _x -> {_counted('_x', same('_x.v', f'{new}.v', value), '+')})"
    another = f"concat({kept}, array(named_struct('v', {new}.v, 'n', 1L)))"
    is_there = f"exists({kept}, _x -> {same('_x.v', f'{new}.v', value)})"
    update = f"CASE WHEN {new} IS NULL THEN {kept} WHEN {is_there} THEN {more} ELSE {another} END"
    entry = StructType().add("v", value).add("n", LongType())
    field = StateField(prefix, ArrayType(entry), update, _merged(prefix, value))
    result = f"if(size(state.{prefix}) = 1, try_element_at(state.{prefix}, 1).v, NULL)"
    return Fold(both, (field,), result)


def _counted(entry: str, condition: str, sign: str) -> str:
    return f"named_struct('v', {entry}.v, 'n', {entry}.n {sign} if({condition}, 1L, 0L))"


def _merged(prefix: str, value: DataType) -> str:
    kept, other = f"coalesce(state.{prefix}, array())", f"coalesce(row.{prefix}, array())"
    found = f"try_element_at(filter({other}, _y -> {same('_y.v', '_x.v', value)}), 1).n"
    both = f"transform({kept}, _x -> named_struct('v', _x.v, 'n', _x.n + coalesce({found}, 0L)))"
    is_there = f"exists({kept}, _x -> {same('_x.v', '_y.v', value)})"
    return f"concat({both}, filter({other}, _y -> NOT {is_there}))"


COUNTING: dict[str, FoldMaker] = {
    "count_distinct": _count_distinct,
    "histogram": _histogram,
    "attr": _attr,
}
