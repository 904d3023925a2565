"""What clients send, as ksqlDB's documentation has it; what is no such thing is refused.

Where ksqlDB takes null for what may be left out, so does this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from headwater.http.errors import HttpError
from headwater.sql.errors import SqlError
from headwater.sql.server.entities.errors import BAD_REQUEST
from headwater.sql.server.properties import checked, text_of_setting
from headwater.sql.server.session import Session
from headwater.sql.variables import Variables

if TYPE_CHECKING:
    from headwater.http.request import Request

Kind = TypeVar("Kind")
_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Values = dict[str, Any] | None


class StatementsRequest(msgspec.Struct, rename="camel"):
    """The body of /ksql and /query."""

    ksql: str
    streams_properties: _Values = None
    session_variables: _Values = None
    command_sequence_number: _Long | None = None


class QueryRequest(msgspec.Struct, rename="camel"):
    """The body of /query-stream."""

    sql: str
    properties: _Values = None
    session_variables: _Values = None


class InsertsRequest(msgspec.Struct):
    """The first line of /inserts-stream."""

    target: str
    properties: _Values = None


class CloseRequest(msgspec.Struct, rename="camel"):
    """The body of /close-query."""

    query_id: str


class TerminateRequest(msgspec.Struct, rename="camel"):
    """The body of /ksql/terminate."""

    delete_topic_list: list[str] | None = None


class HeartbeatRequest(msgspec.Struct, rename="camel"):
    """The body of /heartbeat."""

    host_info: _Values = None
    timestamp: _Long = 0


class LagRequest(msgspec.Struct, rename="camel"):
    """The body of /lag."""

    ksql_host: _Values = None
    host_store_lags: _Values = None


def body_of(request: Request, kind: type[Kind]) -> Kind:
    """Return the body of a request; raises HttpError."""
    if not request.body.strip():
        raise invalid_json("there is no body")
    return decoded(request.body, kind)


def decoded(text: bytes | str, kind: type[Kind]) -> Kind:
    """Return what a client's JSON says; raises HttpError."""
    try:
        # What is skipped is not looked at by msgspec, and may be no text at all.
        whole = text.decode() if isinstance(text, bytes) else text
        return msgspec.json.decode(whole, type=kind)
    except (msgspec.MsgspecError, UnicodeError) as failure:
        raise invalid_json(str(failure)) from None
    except RecursionError:
        raise invalid_json("it nests too deeply") from None


def invalid_json(reason: str) -> HttpError:
    """Return the refusal of what is not the JSON that a route takes."""
    return HttpError(400, BAD_REQUEST, f"Invalid JSON in request: {reason}")


def session_of(properties: _Values, variables: _Values) -> Session:
    """Return the session of a request; raises HttpError."""
    try:
        texts = {name: text_of_setting(name, value) for name, value in (variables or {}).items()}
        return Session(checked(properties or {}), Variables(texts))
    except SqlError as refusal:
        raise HttpError(400, BAD_REQUEST, str(refusal)) from refusal
