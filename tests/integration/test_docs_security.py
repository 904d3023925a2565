"""The settings on the page about security start a broker, and mean what the page says."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient
from tests.certificates import Authority
from tests.docs_page import ROOT, blocks, commands, run_command
from tests.integration.secured_clients import Access
from tests.secured_broker import SecuredBroker

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "security.md"


def given(tmp_path: Path, word: str) -> dict[str, str]:
    """Return the settings of the block with a word in it, with files of this test."""
    (page,) = [block for block in blocks(PAGE, "properties") if word in block]
    files = re.compile(r"^(?=\w+\.pem$)")
    lines = dict(line.split("=", 1) for line in page.splitlines() if line)
    return {name: files.sub(f"{tmp_path}/", value) for name, value in lines.items()}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    authority = Authority()
    (tmp_path / "authority.pem").write_text(authority.certificate)
    authority.issue("CN=broker").write(tmp_path / "broker.pem")
    return authority


def test_a_listener_with_certificates_beside_a_plain_one(
    tmp_path: Path, authority: Authority
) -> None:
    settings = given(tmp_path, "INSIDE")
    assert settings.pop("listeners").startswith("INSIDE://")
    assert settings.pop("listener.security.protocol.map") == "INSIDE:PLAINTEXT,OUTSIDE:SSL"
    shown = authority.issue("CN=Ann,O=plant").write(tmp_path / "ann.pem")
    broker = SecuredBroker(tmp_path / "data", {"OUTSIDE": "SSL"}, settings).start()
    access = Access(broker.address("OUTSIDE"), "SSL", tmp_path / "authority.pem", shown)
    (node,) = AdminClient(access.librdkafka()).list_topics(timeout=60).brokers.values()
    assert f"{node.host}:{node.port}" == broker.address("OUTSIDE")
    broker.stop()


@pytest.mark.usefixtures("authority")
def test_users_and_passwords(tmp_path: Path) -> None:
    settings = given(tmp_path, "sasl.enabled.mechanisms")
    assert settings.pop("listeners").startswith("SASL_SSL://")
    settings["delegation.token.secret.key"] = "a key"
    broker = SecuredBroker(tmp_path / "data", {"SASL_SSL": "SASL_SSL"}, settings).start()
    (tmp_path / "ann.txt").write_text("another secret\n")
    init, create, *others = commands(PAGE)
    run_command(init, "", tmp_path)
    assert (tmp_path / "security" / "users" / "ann" / "java.properties").is_file()
    run_command(create, broker.bootstrap_servers, tmp_path)
    for mechanism, password in (("PLAIN", "ann's secret"), ("SCRAM-SHA-512", "another secret")):
        access = Access(
            broker.address("SASL_SSL"), "SASL_SSL", tmp_path / "authority.pem",
            mechanism=mechanism, user="ann", password=password,
        )  # fmt: skip
        assert AdminClient(access.librdkafka()).list_topics(timeout=60).brokers
    (tmp_path / "ann.properties").write_text(
        "security.protocol=SASL_SSL\nssl.truststore.type=PEM\nsasl.mechanism=SCRAM-SHA-512\n"
        f"ssl.truststore.location={tmp_path}/authority.pem\n"
        "sasl.username=ann\nsasl.password=another secret\n"
    )
    about_tokens = [each for each in others if "token" in each.line]
    assert len(about_tokens) == 5
    for command in about_tokens:
        if command.line.startswith("jq"):
            (token,) = json.loads((tmp_path / "token.json").read_text())
            (tmp_path / "hmac.txt").write_text(token["hmac"])
        else:
            run_command(command, broker.address("SASL_SSL"), tmp_path)
    for command in others:
        if command not in about_tokens:
            run_command(command, broker.bootstrap_servers, tmp_path)
    broker.stop()
