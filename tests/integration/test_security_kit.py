"""What `headwater security init` makes is enough for a broker and its users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker_process import BrokerProcess
from tests.cli_command import Cli

from headwater.security.init import KitPlan, make_kit

if TYPE_CHECKING:
    from pathlib import Path


class _BrokerOfFile(BrokerProcess):
    """A broker with nothing but a file of settings."""

    def __init__(self, data_dir: Path, settings: Path) -> None:
        super().__init__(data_dir)
        self.settings = settings

    def command_line(self) -> list[str]:
        data = ["--data", str(self.data_dir)]
        return [*self.command, "broker", "--config", str(self.settings), *data]


def test_a_broker_runs_with_its_file_and_knows_the_users(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "security", KitPlan(users=("ann",)))
    as_made = kit.broker_properties.read_text()
    assert "127.0.0.1:9092" in as_made
    kit.broker_properties.write_text(as_made.replace("127.0.0.1:9092", "127.0.0.1:0"))
    broker = _BrokerOfFile(tmp_path / "data", kit.broker_properties).start()
    try:
        cli = Cli(broker.bootstrap_servers)
        as_admin = ("--command-config", kit.user("admin").java)
        cli.ok("topics", "create", "orders", *as_admin)
        assert "orders" in cli.ok("topics", "list", *as_admin)
        # Ann is known, and has no rights yet.
        assert "orders" not in cli.ok("topics", "list", "--command-config", kit.user("ann").java)
    finally:
        broker.stop()
