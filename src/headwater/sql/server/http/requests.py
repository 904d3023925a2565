"""What clients send, as ksqlDB's documentation has it."""

from __future__ import annotations

from typing import Any

import msgspec

from headwater.http.errors import HttpError
from headwater.sql.errors import SqlError
from headwater.sql.server.entities.errors import BAD_REQUEST
from headwater.sql.server.properties import checked
from headwater.sql.server.session import Session
from headwater.sql.variables import Variables


class StatementsRequest(msgspec.Struct, rename="camel"):
    """The body of /ksql and /query."""

    ksql: str
    streams_properties: dict[str, Any] = {}
    session_variables: dict[str, Any] = {}
    command_sequence_number: int | None = None


class QueryRequest(msgspec.Struct, rename="camel"):
    """The body of /query-stream."""

    sql: str
    properties: dict[str, Any] = {}
    session_variables: dict[str, Any] = {}


class InsertsRequest(msgspec.Struct):
    """The first line of /inserts-stream."""

    target: str
    properties: dict[str, Any] = {}


class CloseRequest(msgspec.Struct, rename="camel"):
    """The body of /close-query."""

    query_id: str


class TerminateRequest(msgspec.Struct, rename="camel"):
    """The body of /ksql/terminate."""

    delete_topic_list: list[str] = []


def session_of(properties: dict[str, Any], variables: dict[str, Any]) -> Session:
    """Return the session of a request; raises HttpError."""
    try:
        texts = {name: str(value) for name, value in variables.items()}
        return Session(checked(properties), Variables(texts))
    except SqlError as refusal:
        raise HttpError(400, BAD_REQUEST, str(refusal)) from refusal
