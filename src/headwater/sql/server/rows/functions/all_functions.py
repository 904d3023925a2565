"""How all functions of one row are computed, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.server.rows.functions import (
    arrays,
    encodings,
    geo,
    json,
    maps,
    nulls,
    numbers,
    texts,
    times,
    urls,
)

if TYPE_CHECKING:
    from headwater.sql.server.rows.functions.row_call import CallMaker

FUNCTIONS: dict[str, CallMaker] = {
    **arrays.FUNCTIONS,
    **encodings.FUNCTIONS,
    **geo.FUNCTIONS,
    **json.FUNCTIONS,
    **maps.FUNCTIONS,
    **nulls.FUNCTIONS,
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **times.FUNCTIONS,
    **urls.FUNCTIONS,
}
