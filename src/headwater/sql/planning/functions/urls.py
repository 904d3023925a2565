"""URLs and their parts."""

from __future__ import annotations

from headwater.sql.planning.functions.function_call import FormulaMaker, text


def _part(name: str) -> FormulaMaker:
    return text(f"hw_url_part({{0}}, '{name}')")


FORMULAS: dict[str, FormulaMaker] = {
    "URL_DECODE_PARAM": text("try_url_decode({0})"),
    "URL_ENCODE_PARAM": text("url_encode({0})"),
    "URL_EXTRACT_FRAGMENT": _part("FRAGMENT"),
    "URL_EXTRACT_HOST": _part("HOST"),
    "URL_EXTRACT_PARAMETER": text("hw_url_parameter({0}, {1})"),
    "URL_EXTRACT_PATH": _part("PATH"),
    "URL_EXTRACT_PORT": text("hw_url_port({0})"),
    "URL_EXTRACT_PROTOCOL": _part("PROTOCOL"),
    "URL_EXTRACT_QUERY": _part("QUERY"),
}
