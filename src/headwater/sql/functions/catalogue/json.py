"""JSON in texts."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_json = partial(scalar, "JSON")

FUNCTIONS: tuple[Function, ...] = (
    _json(
        "EXTRACTJSONFIELD",
        "What is at a JSONPath, as text; null if nothing is.",
        "(json STRING, path STRING) STRING",
    ),
    _json("IS_JSON_STRING", "Whether a text is JSON.", "(text STRING) BOOLEAN"),
    _json(
        "JSON_ARRAY_CONTAINS",
        "Whether a value is in a JSON array.",
        "(json STRING, value T) BOOLEAN",
    ),
    _json("JSON_ARRAY_LENGTH", "How many elements a JSON array has.", "(json STRING) INTEGER"),
    _json(
        "JSON_CONCAT",
        "JSON objects merged, or arrays one after the other.",
        "(first STRING, others STRING...) STRING",
    ),
    _json(
        "JSON_ITEMS", "The elements of a JSON array, each as text.", "(json STRING) ARRAY<STRING>"
    ),
    _json("JSON_KEYS", "The keys of a JSON object.", "(json STRING) ARRAY<STRING>"),
    _json(
        "JSON_RECORDS",
        "The values of a JSON object by their keys, each as text.",
        "(json STRING) MAP<STRING, STRING>",
    ),
    _json("TO_JSON_STRING", "Any value as JSON.", "(value T) STRING"),
)
