"""Distances on the Earth."""

from __future__ import annotations

import math

from headwater.sql.server.rows.functions.row_call import CallMaker, lenient

_KILOMETRES = 6371.0
_RADII = {
    **dict.fromkeys(("mi", "mile", "miles"), 3959.0),
    **dict.fromkeys(("", "km", "kilometer", "kilometers", "kilometre", "kilometres"), _KILOMETRES),
}


def _distance(
    lat1: float | None,
    lon1: float | None,
    lat2: float | None,
    lon2: float | None,
    unit: str | None = None,
) -> float | None:
    """Return the length of the great circle, by the haversine formula."""
    if lat1 is None or lon1 is None or lat2 is None or lon2 is None:
        return None
    is_on_earth = abs(lat1) <= 90 and abs(lat2) <= 90 and abs(lon1) <= 180 and abs(lon2) <= 180
    radius = _RADII.get((unit or "").strip(" ").lower())
    if not is_on_earth or radius is None:
        return None
    chord = math.sin(math.radians(lat2 - lat1) / 2) ** 2 + (
        math.cos(math.radians(lat1))
        * math.cos(math.radians(lat2))
        * math.sin(math.radians(lon2 - lon1) / 2) ** 2
    )
    return 2 * radius * math.asin(math.sqrt(min(chord, 1.0)))


FUNCTIONS: dict[str, CallMaker] = {"GEO_DISTANCE": lenient(_distance)}
