"""The operators under comparison with Kafka Streams, in programs of ours.

Each writes text under a key that says which operator and which example it was, so that many share
a topic, and a query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.streams import (
    App,
    KStream,
    KTable,
    Processor,
    ProcessorContext,
    Record,
    between,
    count,
    hopping,
    session,
    sliding,
    tumbling,
    until_time_limit,
    value_store,
)
from headwater.streams import max as max_of
from headwater.streams import min as min_of
from headwater.streams import sum as sum_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.nodes import Emit

KINDS = ("inner", "left", "outer")
BEFORE, AFTER = 3, 6
"""How much older and newer than the left record the right one of a stream may be."""
IMPATIENT_GRACE = 2
FIELDS: dict[str, Any] = {"l": "left.n", "r": "right.n"}
_PAIR = "concat(coalesce(cast(l AS string), 'null'), '|', coalesce(cast(r AS string), 'null'))"
_COUNT_AND_SUM = "concat(cast(n AS string), '|', coalesce(cast(sum AS string), 'null'))"
_WINDOW = "concat(cast(unix_seconds(window_start) AS string), '=', cast(count AS string))"
_SESSION = (
    "concat(cast(unix_seconds(window_start) AS string), '-', cast(unix_seconds(window_end) AS"
    " string), '=', coalesce(cast(count AS string), 'null'))"
)
_FOLDED = _WINDOW.replace("count", "value")
_SLIDING = (
    "concat(cast(unix_millis(window_start) AS string), '-', cast(unix_millis(window_end) AS"
    " string), '=', cast(count AS string))"
)
# What Kafka Streams does where the grace ends to the millisecond depends on its store.
SESSIONS = session("3 seconds").grace("4500 ms")
SLIDING = sliding("8 seconds").grace("4500 ms")


def record_by_record() -> App:
    """Operators whose results are compared one by one."""
    app = App("record-by-record", emit="record")
    a = app.stream("a", value_type="n int")
    table = app.table("a", value_type="n int")
    by_key = a.group_by_key()
    _write(
        {
            "stateless": _text(a.filter("n > 3").map_values("n * 2"), "cast(value AS string)"),
            "count": _text(by_key.count(), "cast(count AS string)"),
            "aggregate": _text(
                by_key.aggregate(n=count(), sum=sum_of("n"), low=min_of("n"), high=max_of("n")),
                "concat_ws('|', n, sum, low, high)",
            ),
            "flat": _flat(a),
            "reduce": _text(
                a.map_values("n").group_by_key().reduce("old - new"), "cast(value AS string)"
            ),
        },
        "results",
    )
    tumbled = by_key.windowed_by(tumbling("10 seconds").grace("4 seconds"))
    hopped = by_key.windowed_by(hopping("12 seconds", "5 seconds").grace("4 seconds"))
    _write(
        {
            "tumbling": _text(tumbled.count(), _WINDOW),
            "hopping": _text(hopped.count(), _WINDOW),
            "session": _text(by_key.windowed_by(SESSIONS).count(), _SESSION),
            "sliding": _text(by_key.windowed_by(SLIDING).count(), _SLIDING),
            "hopping-folded": _text(hopped.aggregate(str, _in_order, returns="string"), _FOLDED),
            "session-folded": _text(
                by_key.windowed_by(SESSIONS).aggregate(str, _in_order, returns="string"),
                _SESSION.replace("count", "value"),
            ),
        },
        "windows",
    )
    groups = table.map_values("n").group_by("concat(substring(key, 1, 4), '-', value % 3)")
    reduced = groups.reduce("old + new", undo="old - new")
    _write(
        {
            "table-filter": _text(table.filter("n > 3"), "cast(n AS string)"),
            "table-count": _text(groups.count(), "cast(count AS string)"),
            "table-reduce": _text(reduced, "cast(value AS string)"),
            "table-aggregate": _text(
                groups.aggregate(n=count(), sum=sum_of("value")), _COUNT_AND_SUM
            ),
        },
        "tables",
    )
    return app


def two_streams() -> App:
    """Operators over two streams whose results are compared one by one."""
    app = App("two-streams", emit="record")
    a, b = (stream.group_by_key() for stream in _streams(app))
    both = a.cogroup(n=count()).cogroup(b, sum=sum_of("n"))
    windows = both.windowed_by(tumbling("10 seconds").grace("1000 seconds")).aggregate()
    starting = f"concat(cast(unix_seconds(window_start) AS string), '=', {_COUNT_AND_SUM})"
    _write({"cogroup": _text(both.aggregate(), _COUNT_AND_SUM)}, "results")
    _write({"windowed-cogroup": _text(windows, starting)}, "windows")
    return app


def processors() -> App:
    """Processors that share a store, and one that a topic fills."""
    app = App("processors")
    app.add_state_store(value_store("limit", "int"))
    app.add_read_only_state_store(value_store("row", "n int"), "b")
    a, b = _streams(app)
    b.process(Limits, returns=("string", "string"))
    compared = {
        "processors": a.transform_values(Comparing, returns="string"),
        "filled": a.transform_values(ComparingRows, returns="string"),
    }
    _write(compared, "results")
    return app


class Limits(Processor):
    """Keeps a limit."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.limit = context.state_store("limit")

    def process(self, record: Record) -> None:
        if record.key is not None:
            self.limit.delete() if record.value is None else self.limit.put(record.value["n"])


class Comparing(Processor):
    """Compares with the limit, and counts what is above."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.limit = context.state_store("limit")
        self.above = context.value_store("above", "int")

    def process(self, record: Record) -> None:
        limit = self.known()
        if limit is not None and record.value is not None and record.value["n"] > limit:
            self.above.put((self.above.get() or 0) + 1)
            self.context.forward(f"{limit}|{self.above.get()}")

    def known(self) -> int | None:
        """Return the limit."""
        limit: int | None = self.limit.get()
        return limit


class ComparingRows(Comparing):
    """Does so with the rows of a topic."""

    def init(self, context: ProcessorContext) -> None:
        Processor.init(self, context)
        self.limit = context.state_store("row")
        self.above = context.value_store("above", "int")

    def known(self) -> int | None:
        """Return the limit in the row."""
        row = self.limit.get()
        return None if row is None else row["n"]


def tables_as_they_stand() -> App:
    """Joins with tables, and of tables, whose results are compared one by one."""
    app = App("tables-as-they-stand", emit="record")
    a = app.stream("a", value_type="n int")
    table_a, table_b = (app.table(topic, value_type="n int") for topic in ("a", "b"))
    _write(
        {
            "stream-table-inner": _text(a.join(table_b, **FIELDS), _PAIR),
            "stream-table-left": _text(a.left_join(table_b, **FIELDS), _PAIR),
        },
        "results",
    )
    left, right = table_a.filter("n > 3"), table_b.map_values(n="n + 1")
    _write(
        {
            "table-table-outer": _text(_joined(table_a, table_b, "outer", "record"), _PAIR),
            "filtered-inner": _text(_joined(left, right, "inner", "record"), _PAIR),
            "filtered-left": _text(_joined(left, right, "left", "record"), _PAIR),
        },
        "tables",
    )
    return app


def everywhere() -> App:
    """Joins with a table that is there before the stream."""
    app = App("everywhere")
    a, table = app.stream("a", value_type="n int"), app.global_table("b", value_type="n int")
    _write(
        {
            "global-inner": _text(a.join(table, on="key", **FIELDS), _PAIR),
            "global-left": _text(a.left_join(table, on="key", **FIELDS), _PAIR),
        },
        "results",
    )
    return app


def references() -> App:
    """Tables whose rows refer to those of another, compared one by one."""
    app = App("references", emit="record")
    a, b = (app.table(topic, value_type="n int") for topic in ("a", "b"))
    key: Any = "if(n = 0, CAST(NULL AS string), concat(substring(key, 1, 4), '-', n % 3))"
    _write(
        {
            "foreign-key-inner": _text(a.join(b, foreign_key=key, **FIELDS), _PAIR),
            "foreign-key-left": _text(a.left_join(b, foreign_key=key, **FIELDS), _PAIR),
        },
        "tables",
    )
    return app


def held_back() -> App:
    """Updates that wait in a buffer for two keys."""
    app = App("held-back")
    table = app.table("a", value_type="n int")
    limit = until_time_limit("5 seconds")
    held = {"held-back": limit.max_records(2), "held-back-all": limit}
    for (name, until), topic in zip(held.items(), ("tables", "results"), strict=True):
        _write({name: _text(table.suppress(until), "cast(n AS string)")}, topic)
    return app


def batch_by_batch() -> App:
    """Operators of which the last results are compared."""
    app = App("batch-by-batch", emit="batch")
    by_key = _streams(app)[0].group_by_key()
    table_a, table_b = (app.table(topic, value_type="n int") for topic in ("a", "b"))
    tumbled = by_key.windowed_by(tumbling("10 seconds").grace("1000 seconds"))
    hopped = by_key.windowed_by(hopping("12 seconds", "5 seconds").grace("1000 seconds"))
    _write(
        {
            "count": _text(by_key.count(), "cast(count AS string)"),
            "tumbling-patient": _text(tumbled.count(), _WINDOW),
            "hopping-patient": _text(hopped.count(), _WINDOW),
        },
        "results",
    )
    _write(
        {
            "session": _text(by_key.windowed_by(SESSIONS).count(), _SESSION),
            "sliding": _text(by_key.windowed_by(SLIDING).count(), _SLIDING),
        },
        "windows",
    )
    _write(
        {
            f"table-table-{kind}": _text(_joined(table_a, table_b, kind, "batch"), _PAIR)
            for kind in KINDS
        },
        "tables",
    )
    return app


def pairs() -> App:
    """Joins of streams: which wait long, shortly, and not at all."""
    app = App("pairs")
    a, b = _streams(app)
    span = between(f"{BEFORE} seconds", f"{AFTER} seconds")
    windows = {
        "stream-stream": (span.grace("1000 seconds"), "results"),
        "impatient": (span.grace(f"{IMPATIENT_GRACE} seconds"), "windows"),
        "at-once": (span.grace("23 hours").eager(), "tables"),
    }
    joins = {"inner": a.join, "left": a.left_join, "outer": a.outer_join}
    for name, (window, topic) in windows.items():
        joined = {kind: join(b, **FIELDS, window=window) for kind, join in joins.items()}
        _write({f"{name}-{kind}": _text(joined[kind], _PAIR) for kind in KINDS}, topic)
    return app


def when_closed() -> App:
    """Windows whose last results are compared one by one."""
    app = App("when-closed")
    by_key = _streams(app)[0].group_by_key()
    tumbled = by_key.windowed_by(tumbling("10 seconds").grace("4 seconds"))
    # What is kept aside takes the windows from Spark to ours.
    counts = tumbled.count(late_to="late").suppress()
    hopped = by_key.windowed_by(hopping("12 seconds", "5 seconds").grace("4 seconds"))
    hops = hopped.count(late_to="late").suppress()
    _write(
        {"suppressed": _text(counts, _WINDOW), "hopping-suppressed": _text(hops, _WINDOW)},
        "results",
    )
    sessions = by_key.windowed_by(SESSIONS).count().suppress()
    _write({"session-suppressed": _text(sessions, _SESSION)}, "windows")
    slid = by_key.windowed_by(SLIDING).count().suppress()
    _write({"sliding-suppressed": _text(slid, _SLIDING)}, "tables")
    return app


def _in_order(key: str, value: dict[str, int], before: str) -> str:
    return f"{before}{value['n']};"


def _flat(a: KStream) -> KStream:
    parts = a.filter_not("value IS NULL OR key IS NULL").split(low="n < 3")
    low = parts["low"].flat_map_values("array(n, n + 10)")
    high = parts["default"].select_key("concat(key, n % 2)").map_values("n")
    return low.merge(high).map_values("cast(value AS string)")


def _streams(app: App) -> tuple[KStream, KStream]:
    return app.stream("a", value_type="n int"), app.stream("b", value_type="n int")


def _joined(left: KTable, right: KTable, kind: str, emit: Emit) -> KTable:
    method = {"inner": left.join, "left": left.left_join, "outer": left.outer_join}[kind]
    return method(right, emit=emit, **FIELDS)


def _text(results: KStream | KTable, expression: str) -> KStream:
    stream = results.to_stream() if isinstance(results, KTable) else results
    return stream.map_values(f"CASE WHEN record.value IS NOT NULL THEN {expression} END")


def _write(results: Mapping[str, KStream], topic: str) -> None:
    first, *others = [
        stream.map(key=f"concat('{name}/', coalesce(key, '-'))", value="value")
        for name, stream in results.items()
    ]
    (first.merge(*others) if others else first).to(topic, value="string")
