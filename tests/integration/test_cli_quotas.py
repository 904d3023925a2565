"""`headwater quotas` against a running broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli
from tests.integration.raw_quotas import DEFAULT, EXACT, describe

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


def test_alter_sets_and_removes(cli: Cli, client: RawClient) -> None:
    whom = ("--user", "ann", "--client", "etl")
    cli.ok(
        "quotas", "alter", *whom,
        "--add", "producer_byte_rate=1e9", "--add", "request_percentage=1250.5",
    )  # fmt: skip
    entity = frozenset({("user", "ann"), ("client-id", "etl")})
    only = [("user", EXACT, "ann")]
    assert describe(client, *only) == {
        entity: {"producer_byte_rate": 1e9, "request_percentage": 1250.5}
    }
    cli.ok(
        "quotas", "alter", *whom,
        "--add", "consumer_byte_rate=2000000000", "--delete", "producer_byte_rate",
    )  # fmt: skip
    expected = {"consumer_byte_rate": 2e9, "request_percentage": 1250.5}
    assert describe(client, *only) == {entity: expected}
    cli.ok("quotas", "alter", *whom, "--dry-run", "--delete", "consumer_byte_rate")
    assert describe(client, *only) == {entity: expected}
    cli.ok(
        "quotas", "alter", *whom, "--delete", "consumer_byte_rate", "--delete", "request_percentage"
    )
    assert describe(client, *only) == {}


def test_list_shows_them_all_or_some(cli: Cli, client: RawClient) -> None:
    cli.ok("quotas", "alter", "--client", "shown", "--add", "producer_byte_rate=1000000000")
    cli.ok("quotas", "alter", "--ip-defaults", "--add", "connection_creation_rate=100000")
    cli.ok("quotas", "alter", "--user-defaults", "--add", "request_percentage=1234.5")
    assert cli.ok("quotas", "list").splitlines() == [
        "USER\tCLIENT-ID\tIP\tQUOTA\tVALUE",
        "-\tshown\t-\tproducer_byte_rate\t1000000000",
        "-\t-\t<default>\tconnection_creation_rate\t100000",
        "<default>\t-\t-\trequest_percentage\t1234.5",
    ]
    assert cli.json("quotas", "list", "--user-defaults") == [
        {"entity": {"user": None}, "quota": "request_percentage", "value": 1234.5}
    ]
    assert cli.json("quotas", "list", "--client", "nobody") == []
    assert describe(client, ("user", DEFAULT, None)) == {
        frozenset({("user", None)}): {"request_percentage": 1234.5}
    }


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["alter", "--add", "producer_byte_rate=5"], 2, "whose quotas"),
        (["alter", "--user", "ann"], 2, "what to change"),
        (["alter", "--user", "ann", "--add", "producer_byte_rate=fast"], 2, "not a number"),
        (["alter", "--user", "a", "--user-defaults", "--add", "x=1"], 2, "not both"),
        (["alter", "--user", "ann", "--add", "no_such_quota=5"], 1, "no_such_quota"),
        (["alter", "--ip", "10.0.0.1", "--add", "producer_byte_rate=5"], 1, "producer_byte_rate"),
        (["alter", "--user", "ann", "--add", "producer_byte_rate=-5"], 1, "producer_byte_rate"),
        (["list", "--user", "ann", "--ip", "10.0.0.1"], 1, "address"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, arguments: list[str], code: int, says: str) -> None:
    finished = cli("quotas", *arguments)
    assert finished.code == code
    assert says in finished.err
