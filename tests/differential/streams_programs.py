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
    between,
    count,
    hopping,
    session,
    sliding,
    tumbling,
    until_time_limit,
)
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
_WINDOW = "concat(cast(unix_seconds(window_start) AS string), '=', cast(count AS string))"
_SESSION = (
    "concat(cast(unix_seconds(window_start) AS string), '-', cast(unix_seconds(window_end) AS"
    " string), '=', coalesce(cast(count AS string), 'null'))"
)
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
        },
        "tables",
    )
    return app


def two_streams() -> App:
    """Operators over two streams whose results are compared one by one."""
    app = App("two-streams", emit="record")
    a, b = (stream.group_by_key() for stream in _streams(app))
    both = a.cogroup(seen=count()).cogroup(b, total=sum_of("n")).aggregate()
    text = "concat(cast(seen AS string), '|', coalesce(cast(total AS string), 'null'))"
    _write({"cogroup": _text(both, text)}, "results")
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
    limit = until_time_limit("5 seconds").max_records(2)
    held = app.table("a", value_type="n int").suppress(limit)
    _write({"held-back": _text(held, "cast(n AS string)")}, "tables")
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
    _write({"suppressed": _text(counts, _WINDOW)}, "results")
    sessions = by_key.windowed_by(SESSIONS).count().suppress()
    _write({"session-suppressed": _text(sessions, _SESSION)}, "windows")
    slid = by_key.windowed_by(SLIDING).count().suppress()
    _write({"sliding-suppressed": _text(slid, _SLIDING)}, "tables")
    return app


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
