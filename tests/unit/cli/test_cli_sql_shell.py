"""The parts of the SQL shell: tables that fit, completion, colours, commands of its own."""

from __future__ import annotations

from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from headwater.cli.errors import CommandError
from headwater.cli.sql.client import SqlClient
from headwater.cli.sql.completion import Names, SqlCompleter
from headwater.cli.sql.entities import listing_of
from headwater.cli.sql.highlighting import SqlLexer, fragments
from headwater.cli.sql.outputs import OUTPUTS
from headwater.cli.sql.session import Session
from headwater.cli.sql.shell import is_complete
from headwater.cli.sql.shell_commands import LeaveShell, ShellCommands
from headwater.cli.sql.tables import RowTable, listed
from headwater.cli.sql.terminal import Terminal

NOWHERE = "http://127.0.0.1:9"
NAMES = Names(
    {"ORDERS": ("ID", "AMOUNT"), "order lines": ("ORDER_ID",)},
    ("orders", "payments"),
    ("CSAS_BIG_1",),
    ("auto.offset.reset",),
)


def _completed(text: str) -> list[str]:
    completer = SqlCompleter()
    completer.names = NAMES
    found = completer.get_completions(Document(text), CompleteEvent())
    return [f"{text[: len(text) + each.start_position]}{each.text}" for each in found]


def test_words_and_names_are_completed_where_they_can_stand() -> None:
    assert _completed("SELECT * FROM ord") == [
        "SELECT * FROM ORDERS",
        "SELECT * FROM `order lines`",
    ]
    assert "SELECT AMOUNT" not in _completed("SELECT am")
    both = Document("SELECT am FROM orders;", len("SELECT am"))
    completer = SqlCompleter()
    completer.names = NAMES
    assert [each.text for each in completer.get_completions(both, CompleteEvent())] == ["AMOUNT"]
    assert _completed("SET 'auto") == ["SET 'auto.offset.reset"]
    assert _completed("PRINT 'pay") == ["PRINT 'payments"]
    assert _completed("TERMINATE csas") == ["TERMINATE CSAS_BIG_1"]
    assert _completed("outp") == ["OUTPUT"]
    assert "SELECT GEO_DISTANCE(" in _completed("SELECT geo_")


def test_paths_are_completed_in_scripts(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "plant.sql").write_text("SHOW STREAMS;")
    assert _completed(f"RUN SCRIPT '{folder}/pla") == [f"RUN SCRIPT '{folder}/plant.sql"]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("SHOW STREAMS", False),
        ("SHOW STREAMS;", True),
        ("SHOW STREAMS; SHOW", False),
        ("SELECT 'a;", False),
        ("SELECT 1; -- done", True),
        ("-- only a remark", False),
        ("exit", True),
        ("output json", True),
    ],
)
def test_enter_runs_what_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_colours_are_those_of_the_words() -> None:
    text = "SELECT count(*), 'it''s' FROM `a`\nWHERE x > 1.5 -- ${why}\n/* open"
    found = {piece[1]: piece[0] for piece in fragments(text)}
    assert found["SELECT"] == "class:sql.keyword"
    assert found["count"] == "class:sql.function"
    assert found["'it''s'"] == "class:sql.text"
    assert found["`a`"] == "class:sql.name"
    assert found["1.5"] == "class:sql.number"
    assert found["-- ${why}"] == found["/* open"] == "class:sql.comment"
    line = SqlLexer().lex_document(Document(text))
    for number, typed in enumerate(text.split("\n")):
        assert "".join(piece[1] for piece in line(number)) == typed


def test_lists_take_as_much_of_the_terminal_as_they_need() -> None:
    rows = [["a", "x" * 70], ["bb", "y"]]
    wide = list(listed(["Name", "Text"], rows, None))
    assert wide[0] == " Name | Text"
    assert wide[2] == f" a    | {'x' * 70}"
    narrow = list(listed(["Name", "Text"], rows, 40))
    assert max(map(len, narrow)) <= 40
    assert "".join(line.partition("|")[2].strip() for line in narrow[2:5]) == "x" * 70
    cut = list(listed(["Name", "Text"], rows, 40, wraps=False))
    assert len(cut) == 4
    assert cut[2].endswith("x...")


def test_topics_are_listed_with_their_readers_where_these_are_told() -> None:
    topic = {"name": "orders", "replicaInfo": [3, 3]}
    told = {**topic, "consumerCount": 4, "consumerGroupCount": 2}
    assert listing_of({"@type": "kafka_topics", "topics": [topic]}) == (
        ["Kafka Topic", "Partitions", "Partition Replicas"],
        [["orders", "2", "3"]],
    )
    assert listing_of({"@type": "kafka_topics_extended", "topics": [told]}) == (
        ["Kafka Topic", "Partitions", "Partition Replicas", "Consumers", "Consumer Groups"],
        [["orders", "2", "3", "4", "2"]],
    )


def test_rows_share_the_terminal_s_width() -> None:
    table = RowTable(["ID", "TEXT"], 21, wraps=True)
    assert list(table.head()) == [
        "+---------+---------+",
        "|ID       |TEXT     |",
        "+---------+---------+",
    ]
    assert list(table.row(["1", "ein längerer"])) == [
        "|1        |ein länge|",
        "|         |rer      |",
    ]
    assert next(iter(table.row(["漢字漢字漢字", "b"]))) == "|漢字漢字 |b        |"
    cut = RowTable(["ID", "TEXT"], 21, wraps=False)
    assert list(cut.row(["1", "ein längerer"])) == ["|1        |ein lä...|"]


def test_csv_and_json_are_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    parts: list[dict[str, Any]] = [
        {"header": {"queryId": "q", "schema": "`A` STRING, `b``c` INTEGER"}},
        {"row": {"columns": ['x,"y"', None]}},
        {"finalMessage": "Limit Reached"},
    ]
    OUTPUTS["csv"](terminal).rows(parts)
    OUTPUTS["csv"](terminal).entity(
        {"@type": "variables", "variables": [{"name": "a", "value": "1,2"}]}
    )
    OUTPUTS["json"](terminal).rows(parts[:2])
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        "A,b`c",
        '"x,""y""",',
        "Variable Name,Value",
        'a,"1,2"',
        '{"header": {"queryId": "q", "schema": "`A` STRING, `b``c` INTEGER"}}',
        '{"row": {"columns": ["x,\\"y\\"", null]}}',
    ]
    assert shown.err == "Limit Reached\n"
    with pytest.raises(CommandError, match="gone wrong"):
        OUTPUTS["table"](terminal).rows([{"message": "gone wrong"}])


def test_commands_of_the_shell_need_no_semicolon(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(SqlClient(NOWHERE))
    commands = ShellCommands(session, lambda: ["SHOW STREAMS;"])
    assert not commands.run("SHOW STREAMS;")
    for text in ("OUTPUT", "output 'JSON';", "OUTPUT csv", "HISTORY;", "CLI WRAP OFF;", "cli"):
        assert commands.run(text)
    assert capsys.readouterr().out.splitlines() == [
        "Current output format: TABULAR",
        "Output format set to JSON",
        "Output format set to CSV",
        "    1  SHOW STREAMS;",
        "WRAP OFF",
    ]
    with pytest.raises(CommandError, match="no output format"):
        commands.run("OUTPUT xml")
    with pytest.raises(CommandError, match="not how CLI is used"):
        commands.run("CLI COLOUR ON")
    with pytest.raises(CommandError, match="no SQL server answers"):
        commands.run("SERVER http://127.0.0.1:8")
    assert session.client.url == NOWHERE
    with pytest.raises(LeaveShell):
        commands.run("exit;")


def test_variables_scripts_and_spools_are_the_session_s(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("session")
    script, spool = folder / "a.sql", folder / "out.txt"
    script.write_text("DEFINE b = '${a}2';\nSHOW VARIABLES;")
    session = Session(SqlClient(NOWHERE), is_interactive=True)
    session.run(f"SPOOL '{spool}'; DEFINE a = '1'; RUN SCRIPT '{script}'; SPOOL OFF; UNDEFINE a;")
    session.close()
    assert spool.read_text().splitlines()[-2:] == [" a             | 1", " b             | 12"]
    assert "Enter SPOOL OFF to disable" in capsys.readouterr().out
    for text, message in (
        ("SELECT ${a} FROM x;", "has no value"),
        ("UNSET 'auto.offset.reset';", "never set"),
        ("UNDEFINE nothing;", "never defined"),
        (f"RUN SCRIPT '{folder}/missing.sql';", "cannot read"),
        (f"SPOOL '{folder}/no/where';", "cannot write"),
    ):
        with pytest.raises(CommandError, match=message):
            session.run(text)
    script.write_text(f"RUN SCRIPT '{script}';")
    with pytest.raises(CommandError, match="runs itself"):
        session.run_file(script)
