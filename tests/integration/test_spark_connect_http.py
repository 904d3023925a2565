"""The HTTP connectors with a real HTTP service, as docs/connect-http.md has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.certificates import Authority
from tests.connector_runs import (
    StoredOffsets,
    open_sink,
    open_source,
    page_configs,
    sink_batch,
    values,
)
from tests.http_service import Asked, HttpService
from tests.spark_session import spark
from tests.tls_gate import TlsGate

from headwater.config import Values
from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.connect.connectors.plugins import plugin
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.connect.connectors.connector import SinkBatch

__all__ = ["spark"]

PAGE = "connect-http.md"
ORDER = Shape(Schema(Type.STRING), connect.struct({"id": Schema(Type.INT64)}))
FAST = {"retry.backoff.ms": "1"}


def moved(name: str, service: HttpService, **changes: str) -> dict[str, str]:
    """The page's connector, with another service, that waits for nothing."""
    config = page_configs(PAGE)[name]
    url = config["http.api.url"].replace("http://localhost:8080", service.url)
    given = {key.replace("_", "."): value for key, value in changes.items()}
    return {**config, "http.api.url": url, **FAST, **given}


def orders(spark: SparkSession, *keys: str | None, start: int = 0) -> SinkBatch:
    rows = [(key, None if key is None else (number,)) for number, key in enumerate(keys)]
    return sink_batch(spark, ORDER, rows, start=start)


def test_records_are_sent_in_batches_and_again_while_it_is_worth_it(spark: SparkSession) -> None:
    answers = iter([(503, "busy"), (429, "slowly")])
    with HttpService(lambda _asked: next(answers, (200, "ok"))) as service:
        sink = open_sink(spark, moved("orders-to-shop", service, batch_max_size="2"))
        sink.write(orders(spark, "a", "b", "c"))
        sink.close()
    bodies = [each.body for each in service.asked]
    first = '[{"id":0},{"id":1}]'
    assert bodies == [first, first, first, '[{"id":2}]']
    (path,) = {(each.method, each.path) for each in service.asked}
    assert path == ("POST", "/orders")
    headers = service.asked[0].headers
    assert headers["X-Shop"] == "7"
    assert headers["X-From"] == "Kafka"
    assert headers["Content-Type"] == "application/json"


def test_keys_texts_and_tombstones(spark: SparkSession) -> None:
    with HttpService(lambda _asked: (204, None)) as service:
        config = moved(
            "orders-to-shop",
            service,
            http_api_url=f"{service.url}/items/${{key}}?from=${{topic}}",
            request_method="put",
            request_body_format="string",
            batch_prefix="<",
            batch_suffix=">",
            behavior_on_null_values="delete",
            auth_type="BASIC",
            connection_user="ann",
            connection_password="secret",
        )
        sink = open_sink(spark, config)
        rows = [("a/b", (1,)), ("a/b", (2,)), ("c", None), ("d", (3,))]
        sink.write(sink_batch(spark, ORDER, rows))
        sink.close()
    assert [(each.method, each.path, each.body) for each in service.asked] == [
        ("PUT", "/items/a%2Fb?from=orders", "<Struct{id=1},Struct{id=2}>"),
        ("DELETE", "/items/c?from=orders", ""),
        ("PUT", "/items/d?from=orders", "<Struct{id=3}>"),
    ]
    assert {each.headers["Authorization"] for each in service.asked} == {"Basic YW5uOnNlY3JldA=="}


def test_what_is_refused_fails_or_is_left_out(spark: SparkSession) -> None:
    def picky(asked: Asked) -> tuple[int, object]:
        return (422, "no such item") if "1" in asked.body else (200, None)

    with HttpService(picky) as service:
        config = moved("orders-to-shop", service, batch_max_size="1")
        with pytest.raises(ConnectorError, match=r"orders \[0\] offset 8: .* 422: .no such item"):
            open_sink(spark, config).write(orders(spark, "a", "b", "c", start=7))
        assert len(service.asked) == 2  # 422 is not worth another try
        open_sink(spark, config | {"behavior.on.error": "log"}).write(orders(spark, "a", "b", "c"))
        assert len(service.asked) == 5
        null = config | {"behavior.on.null.values": "fail"}
        with pytest.raises(ConnectorError, match=r"orders \[0\] offset 0 has no value"):
            open_sink(spark, null).write(orders(spark, None))
        open_sink(spark, config).write(orders(spark, None))
        assert len(service.asked) == 5
    with pytest.raises(RetriableError, match=r"POST http://127\.0\.0\.1:\d+/orders failed"):
        open_sink(spark, config).write(orders(spark, "a"))


def test_a_service_behind_tls(spark: SparkSession, tmp_path: Path) -> None:
    authority = Authority()
    trusted = tmp_path / "ca.pem"
    trusted.write_text(authority.certificate)
    own = authority.issue("CN=shop").write(tmp_path / "gate.pem")
    with HttpService(lambda _asked: (200, "ok")) as service:
        port = urlsplit(service.url).port
        assert port is not None
        with TlsGate(port, own, "ann", "secret") as gate:
            config = moved(
                "orders-to-shop",
                service,
                http_api_url=f"{gate.url}/orders",
                auth_type="BASIC",
                connection_user="ann",
                connection_password="secret",
            )
            trusting = open_sink(spark, config | {"https.ssl.ca.location": str(trusted)})
            trusting.write(orders(spark, "a"))
            trusting.close()
            assert [each.path for each in service.asked] == ["/orders"]
            doubting = open_sink(spark, config)
            with pytest.raises(ConnectorError, match=r"not trusted: .*ssl\.ca\.location") as raised:
                doubting.write(orders(spark, "b"))
            assert not isinstance(raised.value, RetriableError)  # no other try would cure it
            doubting.close()
    assert len(service.asked) == 1


def test_a_service_is_asked_from_the_last_offset_on(spark: SparkSession) -> None:
    there = [{"id": number, "item": f"tea {number}"} for number in range(1, 6)]

    def page(asked: Asked) -> tuple[int, object]:
        after = int(parse_qs(urlsplit(asked.path).query)["after"][0])
        return 200, {"orders": [each for each in there if each["id"] > after][:2]}  # type: ignore[operator]

    with HttpService(page) as service:
        config = moved("shop-to-orders", service)
        offsets = StoredOffsets()
        source = open_source(spark, config, offsets)
        rows = source.poll()
        assert [json.loads(str(value)) for value in values(rows)] == there[:2]
        assert rows[0].frame.first().topic == "orders"  # type: ignore[union-attr]
        assert rows[0].offsets == (({"url": config["http.api.url"]}, {"offset": "2"}),)
        assert source.next_poll_s() == 0
        lost = source.poll()  # not committed: asked for again by the next one
        assert lost[0].offsets[0][1] == {"offset": "4"}
        source.close()
        offsets.keep(rows)
        again = open_source(spark, config, offsets)
        assert [json.loads(str(value))["id"] for value in values(again.poll())] == [3, 4]
        assert [json.loads(str(value))["id"] for value in values(again.poll())] == [5]
        assert again.poll() == ()
        assert again.next_poll_s() > 0
        again.close()

        counting = {"http.offset.mode": "SIMPLE_INCREMENTING", "http.initial.offset": "3"}
        counted = open_source(spark, config | counting)
        assert counted.poll()[0].offsets[0][1] == {"offset": "5"}
        counted.close()
        wrong = open_source(spark, config | {"http.response.data.json.pointer": "/no"})
        with pytest.raises(ConnectorError, match="there is nothing at /no"):
            wrong.poll()
        wrong.close()


def test_properties_that_do_not_go_together_are_told() -> None:
    sink, source = plugin("HttpSink"), plugin("HttpSource")
    for of, given, expected in (
        (sink, {}, [("http.api.url", "a value is needed")]),
        (sink, {"http.api.url": "shop"}, [("http.api.url", "is no address")]),
        (
            sink,
            {
                "http.api.url": "http://shop",
                "retry.on.status.codes": "5xx",
                "headers": "a",
                "batch.max.size": "2",
                "batch.json.as.array": "false",
                "behavior.on.null.values": "delete",
            },
            [
                ("retry.on.status.codes", "5xx is no status code"),
                ("headers", "a is no header"),
                ("batch.json.as.array", "only if batch.max.size is 1"),
                ("http.api.url", "${key} has to be in the address"),
            ],
        ),
        (
            source,
            {"http.api.url": "http://shop", "http.offset.mode": "CHAINING"},
            [
                ("topic.name.pattern", "a value is needed"),
                ("http.offset.json.pointer", "a value is needed"),
            ],
        ),
    ):
        found = of.check(Values(of.definitions, given))
        assert [each.name for each in found] == [name for name, _ in expected]
        for each, (_, text) in zip(found, expected, strict=True):
            assert text in each.message
