"""What the tests of the console's pages find there: hostile texts, and versions of a schema."""

from __future__ import annotations

from typing import Any

HACK = "window.hacked = 1"
HOSTILE = [
    f"<script>{HACK}</script>",
    f"<img src=x onerror='{HACK}'>",
    f"</script><script>{HACK}</script>",
    f"{{{{ constructor.constructor('{HACK}')() }}}}",
    f"`${{{HACK}}}`",
    f'{{"a": "<svg onload={HACK}>"}}',
]
V1: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "city", "type": "string"}],
}
V2 = {**V1, "fields": [*V1["fields"], {"name": "paid", "type": "boolean", "default": False}]}
V3 = {**V1, "fields": [{"name": "id", "type": "string"}]}
