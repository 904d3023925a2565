"""The catalogue of functions, and which way to call one fits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from headwater.sql.functions.catalogue.all_functions import (
    FUNCTIONS,
    UnknownFunctionError,
    find_function,
)
from headwater.sql.functions.function import FunctionKind
from headwater.sql.functions.resolution import (
    Argument,
    LambdaArgument,
    UnitArgument,
    resolve,
)
from headwater.sql.functions.signature_text import signatures
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    NULL,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def result(name: str, *arguments: Argument) -> SqlType:
    return resolve(find_function(name), arguments).result


def test_every_function_that_ksqldb_documents_is_there() -> None:
    kinds = Counter(function.kind for function in FUNCTIONS.values())
    # ATTR is not documented, but is there.
    assert kinds == {
        FunctionKind.SCALAR: 129,
        FunctionKind.AGGREGATE: 16 + 1,
        FunctionKind.TABLE: 2,
    }


def test_descriptions_are_sentences_and_signatures_are_read_back() -> None:
    for function in FUNCTIONS.values():
        assert function.description.endswith("."), function.name
        assert function.signatures, function.name
        for signature in function.signatures:
            assert len({parameter.name for parameter in signature.parameters}) == len(
                signature.parameters
            )


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("abs", [Decimal(4, 2)], Decimal(4, 2)),
        ("SQRT", [INTEGER], DOUBLE),
        ("ROUND", [DOUBLE], BIGINT),
        ("ROUND", [Decimal(33, 16)], Decimal(17, 0)),
        ("ROUND", [Decimal(33, 16), INTEGER], Decimal(33, 16)),
        ("GREATEST", [INTEGER, INTEGER, BIGINT], BIGINT),
        ("GREATEST", [INTEGER, Decimal(3, 1)], Decimal(11, 1)),
        ("GREATEST", [INTEGER, NULL, DOUBLE], DOUBLE),
        ("GENERATE_SERIES", [INTEGER, BIGINT], Array(BIGINT)),
        ("ARRAY_CONTAINS", [Array(BIGINT), INTEGER], BOOLEAN),
        ("ENTRIES", [Map(STRING, DATE), BOOLEAN], Array(Struct((("K", STRING), ("V", DATE))))),
        ("COALESCE", [NULL, INTEGER, BIGINT], BIGINT),
        ("CONCAT", [BYTES, BYTES], BYTES),
        ("INSTR", [STRING, STRING, INTEGER, INTEGER], INTEGER),
        ("SUBSTRING", [BYTES, INTEGER], BYTES),
        ("TIMESTAMPADD", [UnitArgument(), INTEGER, TIMESTAMP], TIMESTAMP),
        ("COUNT", [], BIGINT),
        ("SUM", [INTEGER], INTEGER),
        ("AVG", [Decimal(5, 2)], DOUBLE),
        ("LATEST_BY_OFFSET", [STRING, BOOLEAN], STRING),
        ("LATEST_BY_OFFSET", [STRING, INTEGER, BOOLEAN], Array(STRING)),
        ("TOPK", [DOUBLE, INTEGER], Array(DOUBLE)),
        (
            "TOPK",
            [DOUBLE, STRING, DATE, INTEGER],
            Array(Struct((("SORT_COL", DOUBLE), ("COL0", STRING), ("COL1", DATE)))),
        ),
        ("EXPLODE", [Array(Map(STRING, INTEGER))], Map(STRING, INTEGER)),
    ],
)
def test_the_result_follows_from_the_arguments(
    name: str, arguments: list[Argument], expected: SqlType
) -> None:
    assert result(name, *arguments) == expected


def test_lambdas_have_the_types_of_what_they_go_over() -> None:
    seen: list[Sequence[SqlType]] = []

    def body(types: Sequence[SqlType]) -> SqlType:
        seen.append(types)
        return STRING

    assert result("TRANSFORM", Array(DATE), LambdaArgument(1, body)) == Array(STRING)
    pairs = Map(STRING, INTEGER)
    two = (LambdaArgument(2, body), LambdaArgument(2, lambda types: types[1]))
    assert result("TRANSFORM", pairs, *two) == Map(STRING, INTEGER)
    assert result("REDUCE", pairs, STRING, LambdaArgument(3, body)) == STRING
    assert seen == [[DATE], [STRING, INTEGER], [STRING, STRING, INTEGER]]


def test_a_lambda_has_to_return_what_is_needed() -> None:
    with pytest.raises(TypeMismatchError, match="returns STRING, where BOOLEAN is needed"):
        result("FILTER", Array(DATE), LambdaArgument(1, lambda _: STRING))


def test_parameters_say_what_arguments_are_converted_to() -> None:
    call = resolve(find_function("GREATEST"), [INTEGER, DOUBLE])
    assert call.parameters == (DOUBLE, DOUBLE)
    moved = resolve(find_function("DATEADD"), [UnitArgument(), INTEGER, DATE])
    assert moved.parameters == (None, INTEGER, DATE)


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    with pytest.raises(TypeMismatchError) as raised:
        result("LEN", INTEGER)
    assert str(raised.value) == (
        "LEN does not take (INTEGER), but\n  LEN(text STRING) INTEGER\n  LEN(bytes BYTES) INTEGER"
    )
    for name, arguments in (
        ("ABS", [STRING]),
        ("ABS", []),
        ("DATEADD", [STRING, INTEGER, DATE]),
        ("FILTER", [Array(DATE), LambdaArgument(2, lambda types: types[0])]),
        ("ARRAY_UNION", [Array(DATE), Array(STRING)]),
    ):
        with pytest.raises(TypeMismatchError, match="does not take"):
            result(name, *arguments)


def test_unknown_names_have_the_nearest_one() -> None:
    with pytest.raises(UnknownFunctionError, match="did you mean SUBSTRING"):
        find_function("SUBSTR")
    with pytest.raises(UnknownFunctionError, match="SHOW FUNCTIONS"):
        find_function("XQZ")


@pytest.mark.parametrize("text", ["(a INTEGER", "(a FOO<T>) T", "(a INTEGER) INTEGER x", "a$b"])
def test_the_catalogue_cannot_be_written_wrongly(text: str) -> None:
    with pytest.raises(ValueError, match=r"signature|missing|shape"):
        signatures(text)
