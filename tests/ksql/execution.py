"""Runs the statements of a case over its records, without a broker, and compares what comes out."""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.ksql.local_formats import source_without_registry, without_registry
from tests.ksql.statements import CaseStatements

from headwater.plan.nodes import Stateful
from headwater.sql.analysis.outcomes import StoreQuery
from headwater.sql.metastore.source import WindowKind
from headwater.sql.planning.plans import plan_queries
from headwater.sql.types.sql_type import BYTES, Array, Decimal, Map, SqlType, Struct
from headwater.testing import TopologyDriver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.ksql.cases import Case

    from headwater.sql.metastore.source import DataSource
    from headwater.testing.topology_driver import OutputRecord

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def run_case(case: Case) -> list[str]:
    """Return where the records differ from those that the case expects."""
    statements = CaseStatements(case)
    outcomes = statements.run()
    queries = [without_registry(each) for each in outcomes if isinstance(each, StoreQuery)]
    plan = plan_queries("case", queries)
    known = statements.analyser.metastore.sources.values()
    formats = {source.topic: source.value_format.name for source in known}
    sources = {source.topic: source_without_registry(source) for source in known}
    is_by_key = any(isinstance(node, Stateful) for node in plan.walk())
    read = {topic for each in plan.topic_sources() for topic in each.topics}
    with TopologyDriver(plan) as driver:
        is_one_by_one = len({record["topic"] for record in case.inputs} & read) > 1
        for record in case.inputs:
            if record["topic"] not in read:
                continue
            source = sources[record["topic"]]
            driver.pipe(
                record["topic"],
                _key(record, source),
                _value(record.get("value"), source),
                headers=_headers(record),
                timestamp=_EPOCH + datetime.timedelta(milliseconds=record.get("timestamp", 0)),
            )
            if is_one_by_one:
                driver.run()
        topics = dict.fromkeys(record["topic"] for record in case.outputs)
        return [
            difference
            for topic in topics
            for difference in _differences(
                [record for record in case.outputs if record["topic"] == topic],
                driver.read(topic),
                sources[topic],
                _Comparison(
                    is_by_key=is_by_key,
                    is_exact=case.settings.get("use.exact.numeric.comparison") != "False",
                    has_defaults="PROTOBUF" in formats[topic],
                ),
            )
        ]


def _headers(record: dict[str, Any]) -> dict[str, bytes]:
    return {
        header["KEY"]: base64.b64decode(header["VALUE"])
        for header in record.get("headers") or ()
        if header.get("VALUE") is not None
    }


def _differences(
    expected: Sequence[dict[str, Any]],
    found: Sequence[OutputRecord],
    sink: DataSource,
    how: _Comparison,
) -> Iterator[str]:
    """Compare in order, or where state is kept by key, each key's in order."""
    wanted = [
        (
            record.get("key"),
            _plain(_numbers(record.get("value"), sink)),
            record.get("timestamp"),
            _start(record),
        )
        for record in expected
    ]
    given = [_given(record, sink) for record in found]
    if how.is_by_key:
        for records in (wanted, given):
            records.sort(key=lambda record: repr((_plain(record[0]), record[3])))
    for index in range(max(len(wanted), len(given))):
        ours = given[index] if index < len(given) else None
        theirs = wanted[index] if index < len(wanted) else None
        if ours is None or theirs is None or not how.is_same(ours, theirs):
            yield f"{sink.topic} {index}: {ours}\n  and not {theirs}"
            return


@dataclass(frozen=True)
class _Comparison:
    """How records are compared: across keys or not, to the last digit or not.

    Where a format has defaults in place of nulls, the two are the same.
    """

    is_by_key: bool
    is_exact: bool
    has_defaults: bool

    def is_same(self, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
        key, value, at, start = theirs
        return bool(
            _plain(ours[0]) == _plain(key)
            and self._is_same_value(ours[1], value)
            and (at is None or ours[2] == at)
            and ours[3] == start
        )

    def _is_same_value(self, ours: Any, theirs: Any) -> bool:
        if self.has_defaults:
            ours, theirs = _without_defaults(ours), _without_defaults(theirs)
        if not self.is_exact:
            ours, theirs = _rounded(ours), _rounded(theirs)
        return bool(ours == theirs)


def _without_defaults(value: Any) -> Any:
    match value:
        case dict():
            parts = ((name, _without_defaults(part)) for name, part in value.items())
            return {name: part for name, part in parts if part}
        case list():
            return [_without_defaults(part) or None for part in value]
        case _:
            return value


def _rounded(value: Any) -> Any:
    match value:
        case dict():
            return {name: _rounded(part) for name, part in value.items()}
        case float():
            return float(f"{value:.12g}")
        case _:
            return value


def _start(record: dict[str, Any]) -> tuple[int, int | None] | None:
    """Return the window's start and, of a session, its end."""
    if "window" not in record:
        return None
    window = record["window"]
    is_session = window.get("type", "").lower() == "session"
    return window["start"], window["end"] if is_session else None


def _given(
    record: OutputRecord, sink: DataSource
) -> tuple[Any, Any, int, tuple[int, int | None] | None]:
    at = round((record.timestamp - _EPOCH) / datetime.timedelta(milliseconds=1))
    value = _plain(_text_of_bytes(record.value))
    if sink.window is None:
        return _text_of_bytes(record.key), value, at, None
    return _text_of_bytes(record.key["key"]), value, at, _bounds(record.key)


def _bounds(key: dict[str, Any]) -> tuple[int, int | None]:
    return key["window_start"], key.get("window_end")


def _text_of_bytes(value: Any) -> Any:
    """Return bytes as a case writes them."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _numbers(value: Any, sink: DataSource) -> Any:
    """Return a value whose decimals are numbers, where the case writes them as texts."""
    decimals = {column.name for column in sink.value if isinstance(column.type, Decimal)}
    if not isinstance(value, dict):
        return value
    return {
        name: float(part) if name in decimals and isinstance(part, str) else part
        for name, part in value.items()
    }


def _plain(value: Any) -> Any:
    """Return a value without fields that are null, which one writes and the other leaves out."""
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items() if part is not None}
        case list():
            return [_plain(part) for part in value]
        case _:
            return value


def _key(record: dict[str, Any], source: DataSource) -> Any:
    value = record.get("key")
    if value is None or not source.key:
        return None
    if len(source.key) == 1:
        key = _named(value, source.key[0].type)
        if source.key_format.name == "KAFKA" and source.key[0].type == BYTES:
            key = base64.b64decode(key)
    else:
        key = _named(value, Struct(tuple((column.name, column.type) for column in source.key)))
    if source.window is None:
        return key
    window = record["window"]
    bounds = {"window_start": window["start"]}
    if source.window.kind is WindowKind.SESSION:
        bounds["window_end"] = window["end"]
    return {"key": key, **bounds}


def _value(value: Any, source: DataSource) -> Any:
    if source.value_format.name == "KAFKA" and value is not None and source.value[0].type == BYTES:
        return base64.b64decode(value)
    if value is None or not isinstance(value, dict) or source.wrap_single_value is False:
        return value
    return _named(value, Struct(tuple((column.name, column.type) for column in source.value)))


def _named(value: Any, type_: SqlType) -> Any:
    """Return a value with the names of the source's columns, which ksqlDB reads in any capitals."""
    match type_:
        case Struct(fields) if isinstance(value, dict):
            found = {}
            for name, part in fields:
                keys = [key for key in value if key == name] or [
                    key for key in value if key.upper() == name.upper()
                ]
                if keys:
                    found[name] = _named(value[keys[0]], part)
            return found
        case Array(element) if isinstance(value, list):
            return [_named(part, element) for part in value]
        case Map(_, item) if isinstance(value, dict):
            return {name: _named(part, item) for name, part in value.items()}
        case _:
            return value
