"""The console's interface for programs: the table of all routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.http import exports
from headwater.http.answers import JSON, NDJSON, Answer, error
from headwater.http.interface import Interface
from headwater.http.media_types import MediaTypes
from headwater.http.routes import Parameter, Route

if TYPE_CHECKING:
    from headwater.http.errors import HttpError


def _error(failure: HttpError) -> Answer:
    """Return an error as JSON, also where the client wanted a table."""
    return error(failure)._replace(content_type=JSON)


INTERFACE = Interface(
    "Headwater Console",
    [
        Route(
            "GET",
            f"{cluster}/api/topics/{{topic}}/records",
            exports.export_records,
            f"Export records{of} as JSON lines or CSV",
            "Records",
            query=(
                Parameter("format", "jsonl or csv", "string"),
                Parameter("start", "newest, earliest, an offset, a time, or 15m", "string"),
                Parameter("partition", "One partition of the topic", "integer"),
                Parameter("contains", "A text that they contain", "string"),
                Parameter("where", "Conditions such as value.amount > 10", "string"),
                Parameter("limit", "How many records at most", "integer"),
            ),
            errors=(400, 404, 503),
            changes=True,
        )
        for cluster, of in (("", ""), ("/clusters/{cluster}", " of one of several clusters"))
    ],
    description="Records as a person sees them in the console.",
    schemas={
        "Error": {
            "type": "object",
            "properties": {"error_code": {"type": "integer"}, "message": {"type": "string"}},
        },
        "Records": {"type": "object"},
    },
    media=MediaTypes((JSON, NDJSON, exports.CSV)),
    form=_error,
    meanings={503: "The cluster does not answer."},
)
