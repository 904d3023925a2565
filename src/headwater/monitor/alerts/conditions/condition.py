"""What a condition is: a check of what the monitor saw, and the same for Prometheus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.monitor.cluster_monitor import Observation

ANY = ".*"


class Finding(NamedTuple):
    """Something for which a condition holds."""

    labels: Mapping[str, str]
    """What it is, under the labels that the expression's results have as well."""
    value: float
    message: str


class Condition(ABC):
    """One kind of check; its fields are what a rule can say of it."""

    @abstractmethod
    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return everything for which it holds."""

    @property
    @abstractmethod
    def expression(self) -> str:
        """The same for Prometheus."""


def selector(label: str, pattern: str) -> str:
    """Return what narrows a metric to some names.

    >>> selector("topic", "orders"), selector("topic", ANY)
    ('{topic=~"orders"}', '')
    """
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return "" if pattern == ANY else f'{{{label}=~"{escaped}"}}'
