"""The text of gauges is that of Prometheus' own client."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from headwater.metrics.gauges import Gauges, Labels, text_of

NAMES = st.from_regex(r"[a-z]{1,4}(_[a-z]{1,4})?", fullmatch=True)
WORDS = st.one_of(st.sampled_from(["", "orders", 'a "b"', "a\\n", "a\nb", "é%s{}"]), st.text())
# Zero is written without its sign where one without came before, and means the same.
NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), 1 << 63),
    st.builds(lambda digits, power: digits * 10**power, st.integers(0, 2000), st.integers(0, 16)),
    st.floats().map(lambda value: value + 0.0),
)


@st.composite
def families(draw: st.DrawFn) -> list[Gauges]:
    """Make some that share their labels in twos."""
    made = []
    for prefix in draw(st.lists(NAMES, unique=True, max_size=3)):
        names = draw(st.lists(NAMES, unique=True, max_size=4))
        rows = draw(st.lists(st.tuples(*[WORDS] * len(names)), max_size=4))
        labels = Labels(names, rows)
        values = st.lists(st.none() | NUMBERS, min_size=len(rows), max_size=len(rows))
        for suffix in ("one", "two"):
            made.append(Gauges(f"{prefix}_{suffix}", draw(WORDS), labels, draw(values)))
    return made


class Collector:
    def __init__(self, made: list[Gauges]) -> None:
        self._made = made

    def collect(self) -> list[object]:
        return [each.family() for each in self._made]


@given(families())
def test_any_families_read_as_those_of_the_client(made: list[Gauges]) -> None:
    registry = CollectorRegistry()
    registry.register(Collector(made))  # type: ignore[arg-type]
    assert text_of(made) == generate_latest(registry)


def test_whole_numbers_read_as_those_of_the_client() -> None:
    near = {10**power + more for power in range(20) for more in (-1, 0, 1, 2 * 10**power)}
    numbers = sorted(near | {-each for each in near})
    family = Gauges("a", "A.", Labels(("b",), [(str(each),) for each in numbers]), numbers)
    registry = CollectorRegistry()
    registry.register(Collector([family]))  # type: ignore[arg-type]
    assert text_of([family]) == generate_latest(registry)


def test_what_has_no_labels_has_no_braces() -> None:
    assert text_of([Gauges.single("kafka_brokers", "Brokers.", 3)]) == (
        b"# HELP kafka_brokers Brokers.\n# TYPE kafka_brokers gauge\nkafka_brokers 3.0\n"
    )
