"""The same rules for a Prometheus of one's own, as a file that it loads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headwater.monitor.alerts.rules import CLUSTER_DOWN, CLUSTER_DOWN_EXPRESSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.monitor.alerts.rules import Rule

GROUP = "headwater"


def rule_file(rules: Sequence[Rule]) -> str:
    """Return a rule file in YAML; texts are quoted as in JSON, which YAML reads as well."""
    return "\n".join(["groups:", f"  - name: {GROUP}", "    rules:", *_lines(rules), ""])


def _lines(rules: Sequence[Rule]) -> Iterator[str]:
    yield from _alert(CLUSTER_DOWN, CLUSTER_DOWN_EXPRESSION, 0, "critical")
    for rule in rules:
        yield from _alert(rule.name, rule.condition.expression, rule.for_s, rule.severity)


def _alert(name: str, expression: str, for_s: float, severity: str) -> Iterator[str]:
    yield f"      - alert: {name}"
    yield f"        expr: {json.dumps(expression)}"
    yield f"        for: {for_s:g}s"
    yield f"        labels: {{severity: {severity}}}"
    summary = f"{name}: {{{{ $labels }}}} is {{{{ $value }}}}"
    yield f"        annotations: {{summary: {json.dumps(summary)}}}"
