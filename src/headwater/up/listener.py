"""Where the broker of a secured platform listens."""

from __future__ import annotations

from headwater.processes.ports import EVERYWHERE
from headwater.security.properties_text import LISTENER


def listener(host: str, port: int) -> str:
    """Return the broker's only listener."""
    if host in EVERYWHERE:
        return f"{LISTENER}://:{port}"
    return f"{LISTENER}://[{host}]:{port}" if ":" in host else f"{LISTENER}://{host}:{port}"
