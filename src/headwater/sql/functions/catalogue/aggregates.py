"""What is made of a group's rows, and rows made of one."""

from __future__ import annotations

from headwater.sql.functions.function import Function, aggregate, table

_ORDERED = tuple(
    f"(value {type_}) {type_}"
    for type_ in (
        "INTEGER",
        "BIGINT",
        "DOUBLE",
        "DECIMAL",
        "STRING",
        "BYTES",
        "DATE",
        "TIME",
        "TIMESTAMP",
    )
)
_BY_OFFSET = (
    "(value T, [ignore_nulls BOOLEAN]) T",
    "(value T, count INTEGER, [ignore_nulls BOOLEAN]) ARRAY<T>",
)

FUNCTIONS: tuple[Function, ...] = (
    aggregate("ATTR", "The value that all rows share, or null.", "(value T) T"),
    aggregate("AVG", "The average of the values that are not null.", "(value DOUBLE) DOUBLE"),
    aggregate("COLLECT_LIST", "The values in an array.", "(value T) ARRAY<T>"),
    aggregate("COLLECT_SET", "Each different value once, in an array.", "(value T) ARRAY<T>"),
    aggregate(
        "CORRELATION", "Pearson's correlation of two columns.", "(x DOUBLE, y DOUBLE) DOUBLE"
    ),
    aggregate(
        "COUNT",
        "How many rows there are, or how many with a value.",
        "() BIGINT",
        "(value T) BIGINT",
    ),
    aggregate("COUNT_DISTINCT", "About how many different values there are.", "(value T) BIGINT"),
    aggregate("EARLIEST_BY_OFFSET", "The first value, or the first ones.", *_BY_OFFSET),
    aggregate("HISTOGRAM", "How often each text comes.", "(value STRING) MAP<STRING, BIGINT>"),
    aggregate("LATEST_BY_OFFSET", "The last value, or the last ones.", *_BY_OFFSET),
    aggregate("MAX", "The greatest value.", *_ORDERED),
    aggregate("MIN", "The least value.", *_ORDERED),
    aggregate(
        "STDDEV_SAMP",
        "The square of the sample's standard deviation, as ksqlDB has it; see STDDEV_SAMPLE.",
        "(value DOUBLE) DOUBLE",
    ),
    aggregate("STDDEV_SAMPLE", "The sample's standard deviation.", "(value DOUBLE) DOUBLE"),
    aggregate("SUM", "The sum of the values that are not null.", *_ORDERED[:4]),
    aggregate(
        "TOPK",
        "The greatest values, alone or in structs with other columns of their rows.",
        "(value T, k INTEGER) ARRAY<T>",
        "(value T, first ANY, others ANY..., k INTEGER) top_rows",
    ),
    aggregate("TOPKDISTINCT", "The greatest different values.", "(value T, k INTEGER) ARRAY<T>"),
    table(
        "CUBE_EXPLODE", "A row for each way to put nulls for elements.", "(array ARRAY<T>) ARRAY<T>"
    ),
    table("EXPLODE", "A row for each element.", "(array ARRAY<T>) T"),
)
