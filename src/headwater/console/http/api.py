"""The console's interface for programs: the table of all routes."""

from __future__ import annotations

from headwater.console.http import exports
from headwater.http.interface import Interface
from headwater.http.routes import Parameter, Route

INTERFACE = Interface(
    "Headwater Console",
    [
        Route(
            "GET",
            "/api/topics/{topic}/records",
            exports.export_records,
            "Export records as JSON lines or CSV",
            "Records",
            query=(
                Parameter("format", "jsonl or csv", "string"),
                Parameter("start", "newest, earliest, an offset, a time, or 15m", "string"),
                Parameter("partition", "One partition of the topic", "integer"),
                Parameter("contains", "A text that they contain", "string"),
                Parameter("where", "Conditions such as value.amount > 10", "string"),
                Parameter("limit", "How many records at most", "integer"),
            ),
            errors=(400, 503),
            changes=True,
        )
    ],
    description="Records as a person sees them in the console.",
    schemas={
        "Error": {
            "type": "object",
            "properties": {"error_code": {"type": "integer"}, "message": {"type": "string"}},
        },
        "Records": {"type": "object"},
    },
    meanings={503: "The cluster does not answer."},
)
