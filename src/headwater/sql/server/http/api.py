"""The server's interface: its routes, and what they exchange."""

from __future__ import annotations

from headwater.http.interface import Interface
from headwater.http.media_types import MediaTypes
from headwater.http.routes import Route
from headwater.sql.server.entities.errors import generic_error
from headwater.sql.server.http import about, inserts, queries, statements
from headwater.sql.server.http.row_formats import DELIMITED, JSON, KSQL_V1

_MEDIA = MediaTypes(
    (JSON, KSQL_V1, DELIMITED, "text/plain"),
    ("application/x-www-form-urlencoded", "application/octet-stream", "application/vnd.ksql+json"),
)


def _get(path: str, handler: object, summary: str) -> Route:
    return Route("GET", path, handler, summary, "Answer", changes=True)  # type: ignore[arg-type]


def _post(path: str, handler: object, summary: str, *, streams: bool = False) -> Route:
    return Route(
        "POST",
        path,
        handler,  # type: ignore[arg-type]
        summary,
        "Answer",
        body="Request",
        errors=(400, 503),
        takes_stream=streams,
    )


INTERFACE: Interface[Route] = Interface(
    "SQL",
    [
        _post("/ksql", statements.run_statements, "Run statements"),
        _post("/ksql/terminate", statements.terminate, "End all queries"),
        _post("/query", queries.query, "Run a query, or PRINT"),
        _post("/query-stream", queries.query_stream, "Run a query"),
        _post("/close-query", queries.close_query, "End a push query"),
        _post("/inserts-stream", inserts.inserts_stream, "Insert rows", streams=True),
        _post("/heartbeat", about.heartbeat, "Say that a server is there"),
        _post("/lag", about.lag, "Say how far a server's stores are"),
        _get("/info", about.info, "Who the server is"),
        _get("/healthcheck", about.health, "How the server is"),
        _get("/clusterStatus", about.cluster_status, "Which servers there are"),
        _get("/status", statements.statuses, "What became of all commands"),
        _get("/status/{type}/{entity}/{action}", statements.status, "What became of a command"),
        _get("/is_valid_property/{name}", about.is_valid_property, "Whether it can be set"),
        _get("/v1/metadata", about.metadata, "The version and the cluster's id"),
        _get("/v1/metadata/id", about.metadata_id, "The cluster's id"),
    ],
    _MEDIA,
    "Statements, queries and inserts, as ksqlDB has them.",
    {"Request": {"type": "object"}, "Answer": {}, "Error": {"type": "object"}},
    {400: "The statement is refused.", 503: "No server leads at the moment."},
    form=generic_error,
)
