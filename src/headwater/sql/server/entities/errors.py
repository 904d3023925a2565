"""Errors as ksqlDB writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.answers import Answer, encode

if TYPE_CHECKING:
    from headwater.http.errors import HttpError
    from headwater.sql.errors import SqlError

BAD_REQUEST = 40000
BAD_STATEMENT = 40001
QUERY_ENDPOINT = 40002
NOT_FOUND = 40400
SERVER_ERROR = 50000
NO_LEADER = 50300


def statement_error(refusal: SqlError, statement: str, code: int = BAD_STATEMENT) -> Answer:
    """Return the answer to a statement that is refused."""
    value = {
        "@type": "statement_error",
        "error_code": code,
        "message": str(refusal),
        "statementText": statement,
        "entities": [],
    }
    return Answer(encode(value), 400 if code < SERVER_ERROR else code // 100)


def generic_error(failure: HttpError) -> Answer:
    """Return the answer to a request that fails; codes are ksqlDB's, out of the status."""
    code = failure.code if failure.code >= BAD_REQUEST else failure.status * 100
    value = {"@type": "generic_error", "error_code": code, "message": failure.message}
    return Answer(encode(value), failure.status, headers=failure.headers)
