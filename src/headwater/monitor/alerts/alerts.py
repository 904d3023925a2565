"""What holds now, and since when: pending until it has held for long enough, then firing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.monitor.alerts.rules import CLUSTER_DOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from headwater.monitor.alerts.rules import Rule
    from headwater.monitor.cluster_monitor import Observation

PENDING, FIRING, RESOLVED = "pending", "firing", "resolved"


@dataclass(frozen=True)
class Alert:
    """Something that was found, and what became of it."""

    name: str
    severity: str
    labels: Mapping[str, str]
    value: float
    message: str
    since_s: float
    state: str
    ended_s: float | None = None

    @property
    def key(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What makes it the same one at the next look."""
        return self.name, frozenset(self.labels.items())


class AlertBook:
    """Keeps what was found from one look to the next."""

    def __init__(self, rules: Sequence[Rule], cluster: str) -> None:
        self._rules = rules
        self._cluster = cluster
        self._open: dict[tuple[str, frozenset[tuple[str, str]]], Alert] = {}

    @property
    def alerts(self) -> list[Alert]:
        """What holds now."""
        return list(self._open.values())

    def take(self, seen: Observation | None, failure: str | None, now_s: float) -> list[Alert]:
        """Check all rules, and return what has begun to fire, or has been resolved.

        While the cluster cannot be asked, nobody knows how the rest is: it stays as it was.
        """
        found = list(self._found(seen, failure, now_s))
        if seen is None:
            found += [each for each in self._open.values() if each.name != CLUSTER_DOWN]
        now_open = {each.key: each for each in found}
        changed = [
            each
            for key, each in now_open.items()
            if each.state == FIRING and not self._was_firing(key)
        ]
        for key, old in self._open.items():
            if key not in now_open and old.state == FIRING:
                changed.append(replace(old, state=RESOLVED, ended_s=now_s))
        self._open = now_open
        return changed

    def _was_firing(self, key: tuple[str, frozenset[tuple[str, str]]]) -> bool:
        old = self._open.get(key)
        return old is not None and old.state == FIRING

    def _found(
        self, seen: Observation | None, failure: str | None, now_s: float
    ) -> Iterator[Alert]:
        cluster = {"cluster_name": self._cluster}
        if seen is None:
            message = f"cluster {self._cluster} cannot be watched: {failure}"
            alert = Alert(CLUSTER_DOWN, "critical", cluster, 0, message, now_s, FIRING)
            yield from self._aged([alert], 0, now_s)
            return
        for rule in self._rules:
            found = [
                Alert(
                    rule.name,
                    rule.severity,
                    {**cluster, **finding.labels},
                    finding.value,
                    finding.message,
                    now_s,
                    PENDING,
                )
                for finding in rule.condition.findings(seen)
            ]
            yield from self._aged(found, rule.for_s, now_s)

    def _aged(self, found: Iterable[Alert], for_s: float, now_s: float) -> Iterator[Alert]:
        for each in found:
            old = self._open.get(each.key)
            since = now_s if old is None else old.since_s
            state = FIRING if now_s - since >= for_s else PENDING
            yield replace(each, since_s=since, state=state)
