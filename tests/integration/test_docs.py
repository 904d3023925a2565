"""Every example in the documentation is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, blocks, commands, needs_spark, run_command, run_python

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PAGES = [
    "README.md",
    "docs/broker.md",
    "docs/command-line.md",
    "docs/look-ups.md",
    "docs/testing.md",
]
"""The pages that need nothing but a broker."""

ELSEWHERE: dict[str, str] = {
    "docs/acls.md": "tests/integration/test_cli_acls.py",
    "docs/connect.md": "tests/integration/test_docs_connect.py",
    "docs/clusters.md": "tests/integration/test_up_kafka.py",
    "docs/connect-jars.md": "tests/integration/test_connect_kafka_engine.py",
    "docs/connect-python.md": "tests/integration/test_spark_connect_python.py",
    "docs/console.md": "tests/integration/test_console_http.py",
    "docs/exactly-once.md": "tests/integration/test_spark_sink_topic.py",
    "docs/groups.md": "tests/integration/test_docs_groups.py",
    "docs/doctor.md": "tests/integration/test_doctor.py",
    "docs/example-bank.md": "tests/integration/test_examples.py",
    "docs/example-calculator.md": "tests/integration/test_examples.py",
    "docs/example-clicks.md": "tests/integration/test_examples.py",
    "docs/example-kappa.md": "tests/integration/test_examples.py",
    "docs/example-orders.md": "tests/integration/test_examples.py",
    "docs/example-sales.md": "tests/integration/test_examples.py",
    "docs/example-words.md": "tests/integration/test_examples.py",
    "docs/example-witness.md": "tests/integration/test_example_witness.py",
    "docs/lag.md": "tests/integration/test_docs_lag.py",
    "docs/mirror.md": "tests/integration/test_mirror.py",
    "docs/monitoring.md": "tests/integration/test_docs_monitoring.py",
    "docs/pipelines.md": "tests/integration/test_docs_pipelines.py",
    "docs/processors.md": "tests/unit/streams/test_docs_processors.py",
    "docs/rest-proxy.md": "tests/integration/test_rest_docs.py",
    "docs/schemas.md": "tests/integration/test_registry_docs.py",
    "docs/security-lab.md": "tests/integration/test_docs_security_lab.py",
    "docs/security.md": "tests/integration/test_docs_security.py",
    "docs/serialisers.md": "tests/integration/test_docs_platform.py",
    "docs/sql-tests.md": "tests/integration/test_spark_sql_tests.py",
    "docs/sql.md": "tests/integration/test_spark_sql.py",
    "docs/streams.md": "tests/unit/streams/test_docs_streams.py",
    "docs/transactions.md": "tests/integration/test_docs_transactions.py",
    "docs/up.md": "tests/integration/test_docs_platform.py",
}
"""Pages with examples that another test runs, and the file of that test."""

BY_MAKE = ("make ",)
"""What the README opens with is what runs these tests."""


def test_every_page_with_examples_is_run() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    with_examples = {
        str(page.relative_to(ROOT)) for page in pages if commands(page) or blocks(page, "python")
    }
    assert with_examples == {*PAGES, *ELSEWHERE}
    for test in ELSEWHERE.values():
        assert (ROOT / test).is_file()


@pytest.mark.parametrize("page", PAGES)
def test_python(page: str, tmp_path: Path) -> None:
    for code in blocks(ROOT / page, "python"):
        if not needs_spark(code):
            run_python(code, tmp_path)


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("page", PAGES)
def test_commands(page: str, tmp_path: Path, start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker(data_dir=tmp_path / "data")
    (tmp_path / "server.properties").write_text("num.partitions=3\n")
    (tmp_path / "headwater.toml").write_text('"num.partitions" = 3\n')
    for command in commands(ROOT / page):
        if not command.line.startswith(BY_MAKE):
            run_command(command, broker.bootstrap_servers, tmp_path)
