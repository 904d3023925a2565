"""The shell of a server, for people and for programs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tests.cli_command import Cli
from tests.terminal import CTRL_C, CTRL_D, ENTER, TAB, TerminalProcess

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sql_process import SqlProcess


def test_the_shell_is_for_people(server: SqlProcess, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headwater", "sql", "--url", server.url]
    environment = {**os.environ, "HOME": str(tmp_path)}
    with TerminalProcess(command, environment, columns=61) as terminal:
        terminal.wait_until_shown("Ctrl-D leaves.")
        terminal.press(f"CREATE STREAM typed_rows (id STRING KEY, n INT){ENTER}")
        terminal.press(f"WITH (kafka_topic='typed', value_format='JSON', partitions=1);{ENTER}")
        terminal.wait_until_shown("Stream created")
        terminal.press(f"INSERT INTO typed_rows VALUES ('a', 1);{ENTER}")
        terminal.press(f"SET 'auto.offset.reset' = 'earliest';{ENTER}")
        terminal.wait_until_shown("Successfully changed local property")
        terminal.press(f"SELECT * FROM typed_rows EMIT CHANGES;{ENTER}")
        row = f"|{'a':29}|{1:<29}|"
        screen = terminal.wait_until_shown(row)
        assert f"|{'ID':29}|{'N':29}|" in screen
        terminal.press(CTRL_C)
        terminal.wait_until_shown("Query terminated")
        terminal.press(f"SELEC nothing;{ENTER}")
        terminal.wait_until_shown("line 1, column 1")
        terminal.press("half a statement")
        terminal.wait_until_shown("half a statement")
        terminal.press(CTRL_C)
        # Names are asked for behind the prompt, so that Tab may have to be pressed again.
        terminal.press("SELECT n FROM typed_r")
        terminal.press_until_shown(TAB, "TYPED_ROWS")
        terminal.press(CTRL_C)
        terminal.press(f"SELECT n FROM typed_rows;{ENTER}")
        terminal.wait_until_shown(f"|{1:<59}|")
        terminal.press(f"exit{ENTER}")
        assert terminal.wait() == 0
    with TerminalProcess(command, environment) as terminal:
        terminal.wait_until_shown("Ctrl-D leaves.")
        terminal.press(f"HISTORY{ENTER}")
        terminal.wait_until_shown("SELEC nothing;")
        assert terminal.press_until_ended(CTRL_D) == 0


def test_statements_come_from_a_pipe_and_go_to_programs(server: SqlProcess, tmp_path: Path) -> None:
    cli = Cli(server.bootstrap_servers)
    script, spooled = tmp_path / "piped.sql", tmp_path / "spooled.txt"
    script.write_text("INSERT INTO piped VALUES ('a,b', NULL);\nSHOW VARIABLES;")
    made = (
        f"SPOOL '{spooled}'; DEFINE topic = 'piped';"
        "CREATE STREAM piped (id STRING KEY, n INT)"
        " WITH (kafka_topic='${topic}', value_format='JSON', partitions=1);"
        f"RUN SCRIPT '{script}'; SPOOL OFF; SELECT * FROM piped;"
    )
    out = cli.ok("sql", "--url", server.url, "--output", "csv", stdin=made)
    assert out.splitlines() == [
        "Stream created", "Variable Name,Value", "topic,piped", "ID,N", '"a,b",',
    ]  # fmt: skip
    assert spooled.read_text().splitlines() == out.splitlines()[:3]
    refused = cli("sql", "--url", server.url, "--execute", "SET 'no.such' = '1';")
    assert (refused.code, refused.out) == (1, "")
    assert "no.such" in refused.err
