"""The search sink with a real OpenSearch, as docs/connect-elasticsearch.md has it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from tests.certificates import Authority
from tests.conftest import unmet
from tests.connector_runs import open_sink, page_configs, sink_batch
from tests.opensearch import OpenSearch
from tests.spark_session import spark
from tests.tls_gate import TlsGate

from headwater.config import Values
from headwater.connect.connectors.connector import (
    ConnectorError,
    RefusedRecord,
    RetriableError,
    SinkBatch,
)
from headwater.connect.connectors.plugins import plugin
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape
from headwater.java.artifacts import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]

PAGE = "connect-elasticsearch.md"
TEXT = Schema(Type.STRING, optional=True)
ORDER = Shape(
    Schema(Type.STRING),
    connect.struct(
        {
            "item": TEXT,
            "price": connect.decimal(2, 9, optional=True),
            "day": connect.date(optional=True),
            "at": connect.timestamp(optional=True),
            "tags": Schema(Type.ARRAY, optional=True, value=Schema(Type.INT32)),
            "stock": Schema(
                Type.MAP, optional=True, key=Schema(Type.STRING), value=Schema(Type.INT64)
            ),
        }
    ),
)
NOON = datetime.datetime(2026, 11, 18, 12, tzinfo=datetime.UTC)
TEA = ("tea", Decimal("2.50"), NOON.date(), NOON, [1, 2], {"north": 3})
QUICK = {"retry.backoff.ms": "1", "read.timeout.ms": "60000", "connection.timeout.ms": "60000"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSearch]:
    """A cluster of one node."""
    cluster = OpenSearch(tmp_path_factory.mktemp("opensearch"))
    try:
        cluster.start()
    except ArtifactError as failure:
        unmet(str(failure))
    yield cluster
    cluster.stop()


def config(name: str, cluster: OpenSearch, **changes: str) -> dict[str, str]:
    """Return a connector of the page with the test's own cluster."""
    given = {key.replace("_", "."): value for key, value in changes.items()}
    return {**page_configs(PAGE)[name], **QUICK, "connection.url": cluster.url, **given}


def write(spark: SparkSession, given: Mapping[str, str], batch: SinkBatch) -> list[RefusedRecord]:
    """Write a batch with a sink of its own, as after a crash; returns what was refused."""
    sink = open_sink(spark, given)
    try:
        sink.write(batch)
    finally:
        sink.close()
    return batch.refused


def test_documents_of_keys_are_written_once_and_deleted(
    spark: SparkSession, cluster: OpenSearch
) -> None:
    def versions() -> dict[str, int]:
        found = cluster.ask("POST", "/orders/_search", {"version": True})["hits"]["hits"]
        return {hit["_id"]: hit["_version"] for hit in found}

    given = config(
        "orders-to-search", cluster, batch_size="2", connection_compression="true",
        connection_url=f"http://127.0.0.1:1,{cluster.url}",
    )  # fmt: skip
    rows: Sequence[tuple[object, object]] = [
        ("a", TEA),
        ("b", ("milk", None, None, None, None, None)),
        ("ä/c", ('"bread"\n', None, None, None, None, None)),
        ("b", ("oat milk", None, None, None, None, None)),
        ("a", None),
        ("d", TEA),
        (None, None),
    ]
    assert write(spark, given, sink_batch(spark, ORDER, rows, start=3)) == []
    found = cluster.documents("orders")
    assert found.keys() == {"b", "d", "ä/c"}
    assert found["b"]["item"] == "oat milk"
    assert found["ä/c"]["item"] == '"bread"\n'
    assert found["d"] == {
        "item": "tea",
        "price": 2.5,
        "day": "2026-11-18",
        "at": int(NOON.timestamp() * 1000),
        "tags": [1, 2],
        "stock": {"north": 3},
    }
    mapped = {name: each.get("type") for name, each in cluster.properties("orders").items()}
    assert mapped == {
        "item": "text",
        "price": "double",
        "day": "date",
        "at": "date",
        "tags": "integer",
        "stock": None,  # an object, whose fields the cluster has found
    }
    assert versions() == {"b": 6, "ä/c": 5, "d": 8}
    # A crash: some of it comes again, older records last.
    again = sink_batch(spark, ORDER, rows[:4], start=3)
    assert write(spark, given, again) == []
    assert cluster.documents("orders") == found
    assert versions() == {"b": 6, "ä/c": 5, "d": 8}


def test_documents_by_offset_upserts_and_versions_of_headers(
    spark: SparkSession, cluster: OpenSearch
) -> None:
    given = config("clicks-to-search", cluster)
    page = ['{"page": 1}', '{"page": 2, "by": {"name": "ann"}}']
    for _ in range(2):
        batch = sink_batch(spark, Shape(None, None), [(None, None)] * 2, topic="_Clicks")
        write(spark, given, _as_json(batch, page))
    assert cluster.documents("clicks") == {
        "_Clicks+0+0": {"page": 1},
        "_Clicks+0+1": {"page": 2, "by": {"name": "ann"}},
    }
    stock = Shape(
        Schema(Type.INT64),
        connect.struct({"a": Schema(Type.INT32, optional=True, default=7), "b": TEXT}),
    )
    upserting = config("orders-to-search", cluster, write_method="UPSERT")
    cluster.ask("PUT", "/stock/_doc/1", {"kept": True})
    rows = [(1, (1, "x")), (2, (2, "y")), (1, (None, "z")), (2, None), (3, (3, None))]
    for _ in range(2):
        write(spark, upserting, sink_batch(spark, stock, rows, topic="stock"))
        assert cluster.documents("stock") == {
            "1": {"kept": True, "a": 7, "b": "z"},
            "3": {"a": 3, "b": None},
        }
    versioned = config("orders-to-search", cluster, external_version_header="v")
    for version, expected in ((b"9", 1), (b"8", 1), (b"10", 3)):
        batch = sink_batch(
            spark, stock, [(1, (expected if version != b"8" else 2, "x"))], topic="v"
        )
        headers = f"array(named_struct('key', 'v', 'value', X'{version.hex()}'))"
        frame = batch.frame.selectExpr("* EXCEPT (headers)", f"{headers} AS headers")
        write(spark, versioned, SinkBatch(frame, batch.shape, batch.ranges))
        assert cluster.documents("v")["1"]["a"] == expected
    with pytest.raises(SparkRuntimeException, match=r"v \[0\] offset 0 .* header with the version"):
        write(spark, versioned, sink_batch(spark, stock, [(1, (1, "x"))], topic="v"))


def test_events_of_a_data_stream_come_once(spark: SparkSession, cluster: OpenSearch) -> None:
    given = config(
        "orders-to-search",
        cluster,
        data_stream_type="LOGS",
        data_stream_dataset="shop",
        data_stream_timestamp_field="done,at",
        behavior_on_null_values="ignore",
    )
    milk = ("milk", None, None, None, None, None)
    batch = sink_batch(spark, ORDER, [("1", TEA), ("1", milk), ("1", None)], topic="Orders")
    batch = SinkBatch(
        batch.frame.withColumn("timestamp", F.timestamp_millis(F.lit(1_790_000_000_000))),
        batch.shape,
        batch.ranges,
    )
    with pytest.raises(ConnectorError, match="needs an index template with data_stream"):
        write(spark, given, batch)
    cluster.ask("PUT", "/_index_template/l", {"index_patterns": ["logs-*"], "data_stream": {}})
    for _ in range(2):  # a crash
        assert write(spark, given, batch) == []
        assert {
            place: (found["item"], found["@timestamp"])
            for place, found in cluster.documents("logs-shop-orders").items()
        } == {
            "Orders+0+0": ("tea", str(int(NOON.timestamp() * 1000))),
            "Orders+0+1": ("milk", "1790000000000"),
        }
    schemaless = sink_batch(spark, Shape(None, None), [(None, None)] * 2, topic="json")
    texts = ['{"done": "2026-11-19"}', '{"done": 1, "@timestamp": 5}']
    write(spark, given, _as_json(schemaless, texts))
    found = cluster.documents("logs-shop-json")
    assert [found[f"json+0+{number}"]["@timestamp"] for number in (0, 1)] == ["2026-11-19", 5]


def test_what_is_refused_fails_or_is_left_out(spark: SparkSession, cluster: OpenSearch) -> None:
    cluster.ask("PUT", "/strict", {"mappings": {"properties": {"item": {"type": "long"}}}})
    rows = [("a", ("5", None, None, None, None, None)), ("b", TEA), (None, TEA)]
    batch = sink_batch(spark, ORDER, rows[:2], start=7, topic="strict")
    given = config("orders-to-search", cluster, behavior_on_null_values="fail")
    with pytest.raises(ConnectorError, match=r"strict \[0\] offset 8 was not taken: mapper"):
        write(spark, given, batch)
    assert cluster.documents("strict").keys() == {"a"}
    tolerant = given | {"behavior.on.malformed.documents": "ignore"}
    (refused,) = write(spark, tolerant, batch)
    assert refused[:3] == ("strict", 0, 8)
    assert "failed to parse field [item]" in refused.reason
    without = sink_batch(spark, ORDER, rows, start=7, topic="strict")
    with pytest.raises(SparkRuntimeException, match=r"strict \[0\] offset 9 .* its key is missing"):
        write(spark, tolerant, without)
    dropping = tolerant | {"drop.invalid.message": "true"}
    assert [each.offset for each in write(spark, dropping, without)] == [9, 8]
    texts = sink_batch(spark, Shape(ORDER.key, TEXT), [("a", "text")], topic="strict")
    (refused,) = write(spark, tolerant, texts)
    assert refused.reason == "its value is no JSON object"
    null = sink_batch(spark, ORDER, [("a", None)], topic="strict")
    with pytest.raises(SparkRuntimeException, match=r"strict \[0\] offset 0 has no value"):
        write(spark, given, null)
    assert write(spark, given | {"behavior.on.null.values": "ignore"}, null) == []
    assert cluster.documents("strict").keys() == {"a"}

    nothing = sink_batch(spark, Shape(ORDER.key, None), [("a", None)], topic="new")
    schemaless = _as_json(nothing, ['{"a": 1}'])
    with pytest.raises(ConnectorError, match=r"have no schema .* schema\.ignore=true"):
        write(spark, given, schemaless)
    away = given | {"connection.url": "http://127.0.0.1:1", "max.retries": "1"}
    with pytest.raises(RetriableError, match="/strict/_mapping failed"):
        write(spark, away, batch)


def test_a_cluster_behind_tls_and_a_password(
    spark: SparkSession, cluster: OpenSearch, tmp_path: Path
) -> None:
    authority = Authority()
    trusted = tmp_path / "ca.pem"
    trusted.write_text(authority.certificate)
    own = authority.issue("CN=search").write(tmp_path / "gate.pem")
    client = authority.issue("CN=connect")
    key = tmp_path / "client.pem"
    key.write_text(client.encrypted_key("key-secret") + client.certificate)
    login = {"connection.username": "connect", "connection.password": "secret"}
    trust = {"elastic.https.ssl.truststore.location": str(trusted)}
    shown = {
        "elastic.https.ssl.keystore.location": str(key),
        "elastic.https.ssl.key.password": "key-secret",
    }

    def batch(topic: str) -> SinkBatch:
        return sink_batch(spark, ORDER, [("1", TEA), ("2", TEA)], topic=topic)

    with TlsGate(cluster.port, own, "connect", "secret") as gate:
        given = {**config("orders-to-search", cluster), "connection.url": gate.url}
        write(spark, {**given, **trust, **login}, batch("secured"))
        assert cluster.count("secured") == 2
        with pytest.raises(ConnectorError, match=r"not trusted: .*truststore\.location") as raised:
            write(spark, {**given, **login}, batch("untrusted"))
        assert not isinstance(raised.value, RetriableError)  # no other try would cure it
        wrong = {**given, **trust, **login, "connection.password": "guess"}
        with pytest.raises(ConnectorError, match="answered with 401: Unauthorized"):
            write(spark, wrong, batch("guessed"))
        with pytest.raises(ConnectorError, match="have to be PEM files"):
            write(spark, {**wrong, **shown, "elastic.https.ssl.key.password": "x"}, batch("key"))
    with TlsGate(cluster.port, own, "connect", "secret", clients=trusted) as gate:
        given = {**given, **trust, **login, "connection.url": gate.url}
        write(spark, {**given, **shown, "connection.compression": "true"}, batch("mutual"))
        assert cluster.count("mutual") == 2
        with pytest.raises(RetriableError):
            write(spark, {**given, "max.retries": "0"}, batch("nobody"))
    assert [cluster.count(index) for index in ("untrusted", "guessed", "key", "nobody")] == [0] * 4


def test_properties_that_do_not_go_together_are_told() -> None:
    of = plugin("io.aiven.kafka.connect.opensearch.OpenSearchSinkConnector")
    for given, expected in (
        ({}, [("connection.url", "a value is needed")]),
        ({"connection.url": "search:9200"}, [("connection.url", "is no address")]),
        (
            {
                "connection.url": "http://a:9200,https://b",
                "connection.username": "ann",
                "index.write.method": "upsert",
                "external.version.header": "v",
            },
            [
                ("connection.username", "given together"),
                ("external.version.header", "no version with write.method=upsert"),
            ],
        ),
        (
            {
                "connection.url": "http://a:9200",
                "data.stream.type": "metrics",
                "write.method": "upsert",
                "behavior.on.null.values": "delete",
            },
            [
                ("data.stream.dataset", "given together"),
                ("write.method", "new documents alone"),
                ("behavior.on.null.values", "nothing can be deleted"),
            ],
        ),
    ):
        found = of.check(Values(of.definitions, given))
        assert [each.name for each in found] == [name for name, _ in expected]
        for each, (_, text) in zip(found, expected, strict=True):
            assert text in each.message


def _as_json(batch: SinkBatch, texts: Sequence[str]) -> SinkBatch:
    """Return a batch with JSON as its values, which have no schema."""
    cases = " ".join(f"WHEN {number} THEN '{text}'" for number, text in enumerate(texts))
    value = f"parse_json(CASE _offset {cases} END) AS value"
    frame: Any = batch.frame.selectExpr("* EXCEPT (value)", value)
    return SinkBatch(frame, batch.shape, batch.ranges)
