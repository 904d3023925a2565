"""Services that need Spark in the platform: one process, with an endpoint and settings for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headwater.up.health import HttpCheck
from headwater.up.platform import Platform
from headwater.up.services.broker import BROKER
from headwater.up.services.registry import REGISTRY
from headwater.up.services.spark import SparkServiceFactory
from headwater.up.settings import PlatformSettings

SQL = SparkServiceFactory("sql", "a.sql:SQL", "Streaming SQL", needs=("broker", "registry"))
CONNECT = SparkServiceFactory("connect", "a.connect:CONNECT", "Connectors")
ALL = (BROKER, SQL, CONNECT, REGISTRY)


def test_they_share_a_process() -> None:
    settings = PlatformSettings(
        data=Path("/data"),
        free_ports=True,
        with_services=("connect", "sql"),
        properties={
            "sql": {"a.b": "1", "client_id": "x"},
            "spark": {"driver.memory": "2g"},
            "broker": {"c": "2"},
        },
    )
    with Platform(settings, ALL) as platform:
        *_, spark = platform.services
        assert [each.name for each in platform.services] == ["broker", "registry", "spark"]
        assert spark.depends_on == ("broker", "registry")
        assert [(each.name, each.description) for each in spark.endpoints] == [
            ("sql", "Streaming SQL"),
            ("connect", "Connectors"),
        ]
        ports = [each.address.rpartition(":")[2] for each in spark.endpoints]
        assert len({*ports}) == 2
        command = " ".join(spark.command)
        assert f"--service a.sql:SQL {ports[0]} --service a.connect:CONNECT {ports[1]}" in command
        assert f"--bootstrap-server {platform.bootstrap_server}" in command
        assert "--property" not in command
        assert spark.environment == {
            "HEADWATER_SQL_A_B": "1",
            "HEADWATER_OTHERS_SQL": '{"client_id": "x"}',
            "HEADWATER_SPARK": '{"driver.memory": "2g"}',
        }


def test_one_with_a_certificate_is_reached_by_https() -> None:
    settings = PlatformSettings(
        data=Path("/data"),
        free_ports=True,
        with_services=("connect", "sql"),
        properties={"sql": {"ssl.certificate.location": "sql.pem", "ssl.key.location": "sql.key"}},
    )
    with Platform(settings, ALL) as platform:
        endpoints = platform.services[-1].endpoints
        assert [each.address.partition(":")[0] for each in endpoints] == ["https", "http"]
        checks = [each.health for each in endpoints]
        assert [isinstance(each, HttpCheck) and each.tls for each in checks] == [True, False]


def test_without_one_there_is_no_such_process() -> None:
    with Platform(PlatformSettings(data=Path("/data"), free_ports=True), ALL) as platform:
        assert [each.name for each in platform.services] == ["broker", "registry"]


def test_one_alone_needs_only_what_it_needs() -> None:
    settings = PlatformSettings(data=Path("/data"), free_ports=True, services=("connect",))
    with Platform(settings, ALL) as platform:
        assert [each.name for each in platform.services] == ["broker", "spark"]
        assert platform.services[-1].depends_on == ("broker",)


def test_the_sql_server_knows_the_registry_and_keeps_its_state_in_the_platform_s_data(
    tmp_path: Path,
) -> None:
    asked = PlatformSettings(data=tmp_path, with_services=("sql",), free_ports=True)
    with Platform(asked) as platform:
        registry = next(each for each in platform.services if each.name == "registry")
        (place,) = registry.endpoints
        command = " ".join(platform.services[-1].command)
        assert "--service headwater.sql.server.service:SQL" in command
        assert f"--property sql.ksql.schema.registry.url={place.address}" in command
        assert f"--property sql.ksql.streams.state.dir={tmp_path / 'sql'}" in command
        assert "ksql.connect.url" not in command
    with Platform(replace(asked, with_services=("sql", "connect"))) as platform:
        connect = next(each for each in platform.services[-1].endpoints if each.name == "connect")
        command = " ".join(platform.services[-1].command)
        assert f"--property sql.ksql.connect.url={connect.address}" in command
    elsewhere = {"sql": {"ksql.streams.state.dir": "/state"}}
    with Platform(replace(asked, properties=elsewhere)) as platform:
        assert f"{tmp_path / 'sql'}" not in " ".join(platform.services[-1].command)
