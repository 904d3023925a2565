"""Families of gauges in columns, and the text that Prometheus reads of them.

A cluster of many partitions has hundreds of thousands of samples. An object and a dictionary of
labels for each of them cost more than all that is asked of the cluster, and families of the same
partitions have the same labels.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.utils import floatToGoString

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Labels:
    """What tells samples apart, a row for each of them; families may share it."""

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.names = names
        self.rows = rows

    @cached_property
    def texts(self) -> Sequence[str]:
        """The rows as Prometheus reads them, sorted by name as its own client sorts them."""
        if not self.names or not self.rows:
            return [""] * len(self.rows)
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        layout = ",".join(f'{self.names[place]}="%s"' for place in order)
        columns = list(zip(*self.rows, strict=True))
        escaped = _Escaped().__getitem__
        rows = zip(*(map(escaped, columns[place]) for place in order), strict=True)
        return list(map(f"{{{layout}}}".__mod__, rows))


class Gauges(NamedTuple):
    """A family: a value for each row of its labels, or None where there is no sample."""

    name: str
    documentation: str
    labels: Labels
    values: Sequence[float | None]

    @classmethod
    def single(cls, name: str, documentation: str, value: float) -> Gauges:
        """Return a family of one sample without labels."""
        return cls(name, documentation, Labels((), [()]), [value])

    def family(self) -> GaugeMetricFamily:
        """Return the same for the encoders of Prometheus' client."""
        family = GaugeMetricFamily(self.name, self.documentation, labels=self.labels.names)
        for row, value in zip(self.labels.rows, self.values, strict=True):
            if value is not None:
                family.add_metric(row, value)
        return family


def text_of(families: Iterable[Gauges]) -> bytes:
    """Return what `generate_latest` of Prometheus' client would."""
    numbers = _Numbers()
    return b"".join(_text(family, numbers).encode() for family in families)


def _text(family: Gauges, numbers: _Numbers) -> str:
    name, documentation, labels, values = family
    said = documentation.replace("\\", r"\\").replace("\n", r"\n")
    lines = [
        f"{name}{label} {numbers[value]}\n"
        for label, value in zip(labels.texts, values, strict=True)
        if value is not None
    ]
    return f"# HELP {name} {said}\n# TYPE {name} gauge\n{''.join(lines)}"


class _Numbers(dict[float, str]):
    """Numbers as Prometheus reads them; many samples have the same."""

    def __missing__(self, value: float) -> str:
        text = self[value] = _number(value)
        return text


def _number(value: float) -> str:
    # Offsets above all, for which the client's way by a float takes twice as long. From seven
    # digits on it writes an exponent; where a float would not have all digits, it is left to it.
    if type(value) is int and 0 <= value < 10**15:
        digits = str(value)
        if len(digits) < 7:
            return f"{digits}.0"
        return f"{digits[0]}.{digits[1:]}".rstrip("0.") + f"e+{len(digits) - 1:02d}"
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text


class _Escaped(dict[str, str]):
    """Values of labels in quotes; most of them come again and again."""

    def __missing__(self, value: str) -> str:
        text = value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
        self[value] = text
        return text
