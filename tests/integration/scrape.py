"""Fetches a broker's metrics as Prometheus does, and reads them with its own parser."""

from __future__ import annotations

import re
import urllib.request
from typing import TYPE_CHECKING

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_text
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess

OPEN_METRICS = "application/openmetrics-text"
_ADDRESS = re.compile(r"metrics at (http://127\.0\.0\.\d+:\d+/metrics)")


def url_of(broker: BrokerProcess) -> str:
    """Where the broker says that its metrics are."""

    def look() -> re.Match[str] | None:
        found = _ADDRESS.search(broker.text)
        assert found or broker.running, broker.text
        return found

    match = wait_for(look, lambda: broker.text)
    assert match is not None
    return match[1]


class Metrics:
    """One scrape."""

    def __init__(self, broker: BrokerProcess, accept: str = "text/plain") -> None:
        request = urllib.request.Request(url_of(broker), headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=30) as response:
            self.content_type = response.headers["Content-Type"]
            text = response.read().decode()
        parse = parse_open if accept == OPEN_METRICS else parse_text
        self.types: dict[str, str] = {}
        self._samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
        for family in parse(text):
            self.types[family.name] = family.type
            assert family.documentation, family.name
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self._samples, f"{key} is there twice"
                self._samples[key] = sample.value

    def value(self, name: str, **labels: object) -> float:
        return self._samples[name, frozenset((k, str(v)) for k, v in labels.items())]

    def sum(self, name: str, **labels: str) -> float:
        """All samples of that name together that have these labels, whatever others they have."""
        wanted = set(labels.items())
        return sum(v for (n, given), v in self._samples.items() if n == name and wanted <= given)

    def has(self, name: str, **labels: object) -> bool:
        return (name, frozenset((k, str(v)) for k, v in labels.items())) in self._samples

    def labels_of(self, name: str) -> set[frozenset[str]]:
        return {frozenset(k for k, _ in labels) for n, labels in self._samples if n == name}

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self._samples}
