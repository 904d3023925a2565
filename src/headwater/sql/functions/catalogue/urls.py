"""URLs and their parts."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_url = partial(scalar, "URL")
_PART = "(url STRING) STRING"

FUNCTIONS: tuple[Function, ...] = (
    _url("URL_DECODE_PARAM", "The text that a URL writes so.", "(text STRING) STRING"),
    _url("URL_ENCODE_PARAM", "The text as a URL has to write it.", "(text STRING) STRING"),
    _url("URL_EXTRACT_FRAGMENT", "What stands after # in a URL.", _PART),
    _url("URL_EXTRACT_HOST", "The host of a URL.", _PART),
    _url(
        "URL_EXTRACT_PARAMETER",
        "The value of one of the parameters in a URL.",
        "(url STRING, parameter STRING) STRING",
    ),
    _url("URL_EXTRACT_PATH", "The path of a URL.", _PART),
    _url("URL_EXTRACT_PORT", "The port of a URL.", "(url STRING) INTEGER"),
    _url("URL_EXTRACT_PROTOCOL", "The protocol of a URL.", _PART),
    _url("URL_EXTRACT_QUERY", "What stands after ? in a URL.", _PART),
)
