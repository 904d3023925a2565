"""The formulas of all functions that can be computed, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.functions import collections, json, math, nulls, strings, times, urls

if TYPE_CHECKING:
    from headwater.sql.planning.functions.function_call import FormulaMaker

FORMULAS: dict[str, FormulaMaker] = {
    **collections.FORMULAS,
    **json.FORMULAS,
    **math.FORMULAS,
    **nulls.FORMULAS,
    **strings.FORMULAS,
    **times.FORMULAS,
    **urls.FORMULAS,
}
