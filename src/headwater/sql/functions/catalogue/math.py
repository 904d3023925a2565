"""Numbers."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_math = partial(scalar, "MATHEMATICAL")
_OF_DOUBLE = "(value DOUBLE) DOUBLE"
_SAME = (
    "(value INTEGER) INTEGER",
    "(value BIGINT) BIGINT",
    "(value DOUBLE) DOUBLE",
    "(value DECIMAL) DECIMAL",
)
_ROUNDED = (
    "(value INTEGER) INTEGER",
    "(value BIGINT) BIGINT",
    "(value DOUBLE) BIGINT",
    "(value DECIMAL) whole_decimal",
    "(value DOUBLE, places INTEGER) DOUBLE",
    "(value DECIMAL, places INTEGER) DECIMAL",
)
_OF_MANY = (
    "(first INTEGER, others INTEGER...) INTEGER",
    "(first BIGINT, others BIGINT...) BIGINT",
    "(first DOUBLE, others DOUBLE...) DOUBLE",
    "(first DECIMAL, others DECIMAL...) DECIMAL",
    "(first STRING, others STRING...) STRING",
    "(first BYTES, others BYTES...) BYTES",
    "(first DATE, others DATE...) DATE",
    "(first TIME, others TIME...) TIME",
    "(first TIMESTAMP, others TIMESTAMP...) TIMESTAMP",
)

FUNCTIONS: tuple[Function, ...] = (
    _math("ABS", "The number without its sign.", *_SAME),
    _math("ACOS", "The angle, in radians, whose cosine is the value.", _OF_DOUBLE),
    _math("ASIN", "The angle, in radians, whose sine is the value.", _OF_DOUBLE),
    _math("ATAN", "The angle, in radians, whose tangent is the value.", _OF_DOUBLE),
    _math("ATAN2", "The angle, in radians, of the point (x, y).", "(y DOUBLE, x DOUBLE) DOUBLE"),
    _math("CBRT", "The cube root.", _OF_DOUBLE),
    _math("CEIL", "The least whole number that is not less.", *_SAME),
    _math("COS", "The cosine of an angle in radians.", _OF_DOUBLE),
    _math("COSH", "The hyperbolic cosine.", _OF_DOUBLE),
    _math("COT", "The cotangent of an angle in radians.", _OF_DOUBLE),
    _math("DEGREES", "Radians as degrees.", _OF_DOUBLE),
    _math("EXP", "The number e to this power.", _OF_DOUBLE),
    _math("FLOOR", "The greatest whole number that is not more.", *_SAME),
    _math(
        "GENERATE_SERIES",
        "The whole numbers from one to another, both included, by steps of 1 or of `step`.",
        "(start INTEGER, end INTEGER, [step INTEGER]) ARRAY<INTEGER>",
        "(start BIGINT, end BIGINT, [step INTEGER]) ARRAY<BIGINT>",
    ),
    _math(
        "GEO_DISTANCE",
        "The distance of two points on the Earth, in KM (the default) or MILES.",
        "(lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE, [unit STRING]) DOUBLE",
    ),
    _math("GREATEST", "The greatest of the values that are not null.", *_OF_MANY),
    _math("LEAST", "The least of the values that are not null.", *_OF_MANY),
    _math("LN", "The natural logarithm.", _OF_DOUBLE),
    _math(
        "LOG",
        "The logarithm to a base; with one argument the natural one.",
        _OF_DOUBLE,
        "(base DOUBLE, value DOUBLE) DOUBLE",
    ),
    _math("PI", "The number pi.", "() DOUBLE"),
    _math("POWER", "A number to a power.", "(base DOUBLE, exponent DOUBLE) DOUBLE"),
    _math("RADIANS", "Degrees as radians.", _OF_DOUBLE),
    _math("RANDOM", "A random number from 0 to below 1.", "() DOUBLE"),
    _math("ROUND", "The nearest number with so many places, halves away from zero.", *_ROUNDED),
    _math(
        "SIGN",
        "-1, 0 or 1, as the number is negative, zero or positive.",
        "(value INTEGER) INTEGER",
        "(value BIGINT) INTEGER",
        "(value DOUBLE) INTEGER",
    ),
    _math("SIN", "The sine of an angle in radians.", _OF_DOUBLE),
    _math("SINH", "The hyperbolic sine.", _OF_DOUBLE),
    _math("SQRT", "The square root.", _OF_DOUBLE),
    _math("TAN", "The tangent of an angle in radians.", _OF_DOUBLE),
    _math("TANH", "The hyperbolic tangent.", _OF_DOUBLE),
    _math("TRUNC", "The number cut off after so many places.", *_ROUNDED),
)
