"""Alerts and rules, in the form of Prometheus' own interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.answers import Answer, answer
from headwater.monitor.alerts.alerts import FIRING
from headwater.monitor.alerts.delivery import timestamp
from headwater.monitor.alerts.prometheus import GROUP

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.monitor.alerts.alerts import Alert
    from headwater.monitor.service import MonitorService


async def list_alerts(service: MonitorService, request: Request) -> Answer:
    """Answer GET /api/v1/alerts: what holds now."""
    return _success({"alerts": [_alert(alert) for alert in service.alerts.alerts]})


async def list_rules(service: MonitorService, request: Request) -> Answer:
    """Answer GET /api/v1/rules: what is checked."""
    by_rule: dict[str, list[Alert]] = {}
    for alert in service.alerts.alerts:
        by_rule.setdefault(alert.name, []).append(alert)
    rules = [
        {
            "type": "alerting",
            "name": rule.name,
            "query": rule.condition.expression,
            "duration": rule.for_s,
            "labels": {"severity": rule.severity},
            "annotations": {},
            "alerts": [_alert(alert) for alert in by_rule.get(rule.name, ())],
            "health": "ok",
            "state": _state(by_rule.get(rule.name, [])),
        }
        for rule in service.rules
    ]
    return _success({"groups": [{"name": GROUP, "rules": rules}]})


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "labels": {"alertname": alert.name, "severity": alert.severity, **alert.labels},
        "annotations": {"summary": alert.message},
        "state": alert.state,
        "activeAt": timestamp(alert.since_s),
        "value": f"{alert.value:g}",
    }


def _state(alerts: list[Alert]) -> str:
    if not alerts:
        return "inactive"
    return FIRING if any(alert.state == FIRING for alert in alerts) else "pending"


def _success(data: dict[str, Any]) -> Answer:
    return answer({"status": "success", "data": data})
