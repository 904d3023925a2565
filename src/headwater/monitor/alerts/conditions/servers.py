"""Conditions on servers: disks that fill, and certificates that expire."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.monitor.alerts.conditions.condition import ANY, Condition, Finding, selector
from headwater.monitor.disk_space import WINDOW_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.monitor.cluster_monitor import Observation

_HOUR_S = 3600
_DAY_S = 24 * _HOUR_S


@dataclass(frozen=True)
class DiskFull(Condition):
    """A broker's disk will be full within so many hours, or is nearly so."""

    hours: float = 24
    percent: float = 95

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the directories."""
        for place, full_in_s in seen.disks:
            used = 100 * (1 - place.usable_bytes / place.total_bytes) if place.total_bytes else 100
            where = f"the disk of {place.path} on broker {place.broker}"
            labels = {"broker": str(place.broker), "log_dir": place.path}
            if full_in_s is not None and full_in_s < self.hours * _HOUR_S:
                left = f"in {full_in_s / _HOUR_S:.1f} hours"
                text = f"{where} is {used:.0f} % full, and {left} all of it if it goes on so"
            elif used >= self.percent:
                text = f"{where} is {used:.0f} % full"
            else:
                continue
            yield Finding(labels, used, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        usable, total = "kafka_log_dir_usable_bytes", "kafka_log_dir_total_bytes"
        later = f"predict_linear({usable}[{WINDOW_S:g}s], {self.hours * _HOUR_S:g}) < 0"
        return f"({later}) or (100 * (1 - {usable} / {total}) >= {self.percent:g})"


@dataclass(frozen=True)
class CertificateExpires(Condition):
    """A server's certificate expires within so many days."""

    days: float = 30
    address: str = ANY

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the addresses."""
        for address, expires_s in seen.certificates.items():
            left = (expires_s - seen.time_s) / _DAY_S
            if left < self.days and re.fullmatch(self.address, address):
                when = f"expires in {left:.1f} days" if left > 0 else "has expired"
                text = f"the certificate of {address} {when}"
                yield Finding({"address": address}, left, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = f"probe_ssl_earliest_cert_expiry{selector('address', self.address)}"
        return f"({metric} - time()) / {_DAY_S} < {self.days:g}"
