"""One broker and one SQL server, with a registry, for all tests here; none of them needs Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.broker_process import BrokerProcess
from tests.integration.sql.orders import ORDERS
from tests.registry_process import RegistryProcess
from tests.sql_process import SqlProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """The broker of all tests here."""
    process = BrokerProcess(tmp_path_factory.mktemp("broker") / "data").start()
    yield process
    process.stop()


@pytest.fixture(scope="package")
def server(broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlProcess]:
    registry = RegistryProcess(broker.bootstrap_servers).start()
    process = SqlProcess(
        broker.bootstrap_servers,
        tmp_path_factory.mktemp("sql"),
        [
            *("--registry", registry.url, "--property", "ksql.connect.url=http://127.0.0.1:9"),
            *("--property", "ksql.logging.processing.stream.auto.create=true"),
            *("--property", "ksql.logging.processing.rows.include=true"),
        ],
        "statements_",
    ).start()
    process.run(ORDERS)
    yield process
    process.stop()
    registry.stop()
