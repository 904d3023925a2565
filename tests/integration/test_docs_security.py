"""The settings on the page about security start a broker, and mean what the page says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient
from tests.authority import Authority
from tests.docs_page import ROOT, blocks
from tests.secured_broker import SecuredBroker

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "security.md"


def test_a_listener_with_certificates_beside_a_plain_one(tmp_path: Path) -> None:
    (page,) = [block for block in blocks(PAGE, "properties") if "INSIDE" in block]
    given = dict(line.split("=", 1) for line in page.splitlines() if line)
    assert given.pop("listeners").startswith("INSIDE://")
    assert given.pop("listener.security.protocol.map") == "INSIDE:PLAINTEXT,OUTSIDE:SSL"
    authority = Authority()
    (tmp_path / "authority.pem").write_text(authority.certificate)
    authority.issue("CN=broker").write(tmp_path / "broker.pem")
    shown = authority.issue("CN=Ann,O=plant").write(tmp_path / "ann.pem")
    files = re.compile(r"^(?=\w+\.pem$)")
    broker = SecuredBroker(
        tmp_path / "data",
        {"OUTSIDE": "SSL"},
        {name: files.sub(f"{tmp_path}/", value) for name, value in given.items()},
    ).start()
    admin = AdminClient(
        {
            "bootstrap.servers": broker.address("OUTSIDE"),
            "security.protocol": "SSL",
            "ssl.ca.location": str(tmp_path / "authority.pem"),
            "ssl.certificate.location": str(shown),
            "ssl.key.location": str(shown),
        }
    )
    (node,) = admin.list_topics(timeout=60).brokers.values()
    assert f"{node.host}:{node.port}" == broker.address("OUTSIDE")
    broker.stop()
