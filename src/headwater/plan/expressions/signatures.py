"""What Spark's operators and common functions take and return.

A function that is not here can still be called: its type then comes from a cast or `returns=`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headwater.plan.schemas.coercion import (
    TIMES,
    SignatureError,
    as_decimal,
    bounded_decimal,
    common_type,
    numeric_type,
)
from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    INTERVAL,
    STRING,
    TIMESTAMP,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    is_numeric,
)

Rule = Callable[[Sequence[DataType]], DataType]


class UnknownFunctionError(SignatureError):
    """A function that has no signature here."""


def result_type(function: str, types: Sequence[DataType]) -> DataType:
    """Return the type of a call; refuse arguments that do not fit."""
    rule = _RULES.get(function.lower())
    if rule is None:
        raise UnknownFunctionError(
            f'the result type of {function} is not known here: add .cast("type"), or returns="type"'
        )
    return rule(types)


def is_known(function: str) -> bool:
    """Tell whether a function has a signature here."""
    return function.lower() in _RULES


def _count(types: Sequence[DataType], at_least: int, at_most: int | None = None) -> None:
    most = at_least if at_most is None else at_most
    if not at_least <= len(types) <= most:
        expected = str(at_least) if at_least == most else f"{at_least} to {most}"
        raise SignatureError(f"takes {expected} arguments, not {len(types)}")


def _need(type_: DataType, fits: bool, wanted: str) -> None:
    if not fits and type_ != VOID:
        raise SignatureError(f"needs {wanted}, not {type_.ddl()}")


def _arithmetic(operator: str) -> Rule:
    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, 2)
        left, right = types
        if operator in "+-" and (left in TIMES or right in TIMES or INTERVAL in types):
            return _time_arithmetic(operator, left, right)
        for type_ in types:
            _need(type_, is_numeric(type_), "numbers")
        if VOID in types:
            return common_type(types)
        if any(isinstance(type_, Decimal) for type_ in types) and not (
            DOUBLE in types or FLOAT in types
        ):
            return _decimal_arithmetic(operator, as_decimal(left), as_decimal(right))
        return DOUBLE if operator == "/" else numeric_type(left, right)

    return rule


def _decimal_arithmetic(operator: str, left: Decimal, right: Decimal) -> Decimal:
    p1, s1, p2, s2 = left.precision, left.scale, right.precision, right.scale
    if operator in "+-":
        scale = max(s1, s2)
        return bounded_decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if operator == "*":
        return bounded_decimal(p1 + p2 + 1, s1 + s2)
    if operator == "/":
        scale = max(6, s1 + p2 + 1)
        return bounded_decimal(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return bounded_decimal(min(p1 - s1, p2 - s2) + scale, scale)


def _time_arithmetic(operator: str, left: DataType, right: DataType) -> DataType:
    if INTERVAL in (left, right):
        other = right if left == INTERVAL else left
        if other == INTERVAL:
            return INTERVAL
        if other in TIMES and not (operator == "-" and right in TIMES):
            return TIMESTAMP if other == DATE else other
    elif operator == "-" and left in TIMES and right in TIMES:
        return INTERVAL
    elif left == DATE and right in INTEGERS[:3]:
        return DATE
    raise SignatureError(
        f"{left.ddl()} {operator} {right.ddl()} has no meaning (an interval can be added to a time)"
    )


def _comparison(types: Sequence[DataType]) -> DataType:
    _count(types, 2)
    left, right = types
    if any(isinstance(type_, Map) for type_ in types):
        raise SignatureError("maps cannot be compared")
    # Spark reads a text as a time when it is compared with one.
    if not (STRING in types and any(type_ in TIMES for type_ in types)):
        common_type((left, right))
    return BOOLEAN


def _logic(count: int) -> Rule:
    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, count)
        for type_ in types:
            _need(type_, type_ == BOOLEAN, "conditions (boolean)")
        return BOOLEAN

    return rule


def _texts(returns: DataType, at_least: int, at_most: int | None = None) -> Rule:
    """Every argument a text."""

    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least, at_most)
        for type_ in types:
            _need(type_, type_ in (STRING, BINARY), "text")
        return returns

    return rule


def _text_first(returns: DataType, at_least: int, at_most: int | None = None) -> Rule:
    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least, at_most)
        _need(types[0], types[0] in (STRING, BINARY), "text")
        return returns

    return rule


def _number(returns: DataType | None, at_least: int = 1, at_most: int | None = None) -> Rule:
    """Every argument a number; without a fixed result the first one's type."""

    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least, at_most)
        for type_ in types:
            _need(type_, is_numeric(type_), "numbers")
        return returns or types[0]

    return rule


def _time_first(returns: DataType, at_least: int, at_most: int | None = None) -> Rule:
    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least, at_most)
        _need(types[0], types[0] in (*TIMES, STRING), "a time")
        return returns

    return rule


def _any(returns: DataType, at_least: int, at_most: int | None = None) -> Rule:
    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least, at_most)
        return returns

    return rule


def _same(types: Sequence[DataType]) -> DataType:
    _count(types, 1, 1_000)
    return common_type(types)


def _if(types: Sequence[DataType]) -> DataType:
    _count(types, 3)
    _need(types[0], types[0] == BOOLEAN, "a condition (boolean)")
    return common_type(types[1:])


def _nullif(types: Sequence[DataType]) -> DataType:
    _comparison(types)
    return types[0]


def _in(types: Sequence[DataType]) -> DataType:
    _count(types, 2, 1_000_000)
    for type_ in types[1:]:
        _comparison((types[0], type_))
    return BOOLEAN


def _array(pick: Callable[[Array], DataType], at_least: int, at_most: int | None = None) -> Rule:
    """An array first; the result follows from it."""

    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least, at_most)
        first = types[0]
        if not isinstance(first, Array):
            raise SignatureError(f"needs an array, not {first.ddl()}")
        return pick(first)

    return rule


def _map(pick: Callable[[Map], DataType], at_least: int) -> Rule:
    def rule(types: Sequence[DataType]) -> DataType:
        _count(types, at_least)
        first = types[0]
        if not isinstance(first, Map):
            raise SignatureError(f"needs a map, not {first.ddl()}")
        return pick(first)

    return rule


def _element_at(types: Sequence[DataType]) -> DataType:
    _count(types, 2)
    match types[0]:
        case Array(element):
            return element
        case Map(_, value):
            return value
    raise SignatureError(f"needs an array or a map, not {types[0].ddl()}")


def _new_map(types: Sequence[DataType]) -> DataType:
    if not types or len(types) % 2:
        raise SignatureError("takes keys and values in turn")
    return Map(common_type(types[::2]), common_type(types[1::2]))


def _concat(types: Sequence[DataType]) -> DataType:
    _count(types, 1, 1_000)
    if all(isinstance(type_, Array) for type_ in types):
        return common_type(types)
    for type_ in types:
        _need(type_, not isinstance(type_, Array | Map | Struct), "text")
    return STRING


def _sized(types: Sequence[DataType]) -> DataType:
    _count(types, 1)
    _need(types[0], isinstance(types[0], Array | Map), "an array or a map")
    return INT


def _rounded(types: Sequence[DataType]) -> DataType:
    _count(types, 1, 2)
    _need(types[0], is_numeric(types[0]), "a number")
    return types[0]


def _floor(types: Sequence[DataType]) -> DataType:
    _count(types, 1)
    _need(types[0], is_numeric(types[0]), "a number")
    if isinstance(types[0], Decimal):
        return Decimal(min(38, types[0].precision - types[0].scale + 1), 0)
    return BIGINT


def _keys(found: Map) -> DataType:
    return Array(found.key)


def _values(found: Map) -> DataType:
    return Array(found.value)


def _itself(found: DataType) -> DataType:
    return found


def _element(found: Array) -> DataType:
    return found.element


def _rules(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_RULES: dict[str, Rule] = {
    **{operator: _arithmetic(operator) for operator in "+-*/%"},
    **_rules(_number(BIGINT, 2), "div"),
    **_rules(_number(None, 2), "& | ^ mod"),
    **_rules(_comparison, "= <> < <= > >= <=>"),
    **_rules(_logic(2), "and or"),
    **_rules(_logic(1), "not"),
    "in": _in,
    **_rules(_any(BOOLEAN, 1), "isnull isnotnull"),
    **_rules(_number(BOOLEAN), "isnan"),
    **_rules(_texts(BOOLEAN, 2), "like rlike ilike contains startswith endswith"),
    **_rules(_concat, "|| concat"),
    "concat_ws": _text_first(STRING, 1, 1_000),
    # nulls and choices
    **_rules(_same, "coalesce greatest least nvl ifnull"),
    "nullif": _nullif,
    "if": _if,
    # numbers
    **_rules(_number(None), "negative positive abs"),
    **_rules(_rounded, "round bround"),
    **_rules(_floor, "floor ceil ceiling"),
    **_rules(
        _number(DOUBLE),
        "sqrt cbrt exp ln log10 log2 sin cos tan asin acos atan radians degrees signum",
    ),
    "log": _number(DOUBLE, 1, 2),
    **_rules(_number(DOUBLE, 2), "pow power atan2 hypot"),
    **_rules(_number(None, 2), "pmod"),
    **_rules(_any(DOUBLE, 0, 1), "rand"),
    # text
    **_rules(_texts(STRING, 1), "upper lower initcap reverse"),
    **_rules(_texts(STRING, 1, 2), "trim ltrim rtrim"),
    **_rules(_text_first(INT, 1), "length char_length octet_length ascii"),
    **_rules(_text_first(STRING, 2, 3), "substring substr"),
    **_rules(_text_first(STRING, 2), "left right repeat"),
    **_rules(_text_first(STRING, 2, 3), "lpad rpad"),
    "substring_index": _text_first(STRING, 3),
    **_rules(_texts(INT, 2), "instr levenshtein"),
    "locate": _texts(INT, 2),
    **_rules(_texts(STRING, 2, 3), "replace"),
    "translate": _texts(STRING, 3),
    "regexp_replace": _texts(STRING, 3),
    "regexp_extract": _text_first(STRING, 2, 3),
    "split": _text_first(Array(STRING), 2, 3),
    "format_string": _text_first(STRING, 1, 100),
    "format_number": _any(STRING, 2),
    **_rules(_any(STRING, 1), "md5 sha1 base64 hex typeof string"),
    "sha2": _any(STRING, 2),
    **_rules(_any(INT, 1, 1_000), "hash"),
    **_rules(_any(BIGINT, 1, 1_000), "xxhash64 crc32"),
    **_rules(_texts(BINARY, 1), "unbase64 unhex"),
    **_rules(_texts(BINARY, 2), "encode"),
    **_rules(_text_first(STRING, 2), "decode"),
    "uuid": _any(STRING, 0),
    "get_json_object": _texts(STRING, 2),
    "to_json": _any(STRING, 1, 2),
    # time
    **_rules(_any(TIMESTAMP, 0), "current_timestamp now"),
    "current_date": _any(DATE, 0),
    **_rules(
        _time_first(INT, 1),
        "year month day dayofmonth dayofweek dayofyear hour minute second quarter weekofyear",
    ),
    "to_date": _time_first(DATE, 1, 2),
    "to_timestamp": _time_first(TIMESTAMP, 1, 2),
    "date_format": _time_first(STRING, 2),
    **_rules(_any(DATE, 2), "date_add date_sub add_months"),
    "datediff": _time_first(INT, 2),
    "date_trunc": _text_first(TIMESTAMP, 2),
    "unix_timestamp": _any(BIGINT, 0, 2),
    **_rules(_time_first(BIGINT, 1), "unix_millis unix_micros unix_seconds unix_date"),
    **_rules(_number(TIMESTAMP), "timestamp_millis timestamp_micros timestamp_seconds"),
    "from_unixtime": _any(STRING, 1, 2),
    # arrays and maps
    "array": lambda types: Array(common_type(types)),
    "map": _new_map,
    **_rules(_sized, "size cardinality"),
    **_rules(_element_at, "element_at try_element_at"),
    "get": _array(_element, 2),
    "array_contains": _array(lambda _: BOOLEAN, 2),
    "array_join": _array(lambda _: STRING, 2, 3),
    **_rules(_array(_itself, 1), "array_distinct array_sort array_compact"),
    **_rules(_array(_itself, 1, 2), "sort_array"),
    **_rules(_array(_itself, 2), "array_remove array_append array_union array_except"),
    "slice": _array(_itself, 3),
    **_rules(_array(_element, 1), "array_max array_min"),
    "flatten": _array(_element, 1),
    "sequence": lambda types: Array(common_type(types[:2])),
    "map_keys": _map(_keys, 1),
    "map_values": _map(_values, 1),
    "map_contains_key": _map(lambda _: BOOLEAN, 2),
}
