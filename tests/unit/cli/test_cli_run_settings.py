"""What `headwater run` makes of a program and its options before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli_command import Cli

from headwater.cli.program import ProgramError, load_app
from headwater.cli.run import overridden
from headwater.plan.plan import Settings
from headwater.spark.topics import reading_options

PROGRAMS = Settings(
    bootstrap_servers="programs:1",
    checkpoint_dir=Path("programs"),
    spark={"spark.a": "programs", "spark.b": "programs"},
    kafka={"client.id": "programs", "client.rack": "programs"},
)


def test_the_command_line_wins_over_the_program() -> None:
    both = overridden(
        PROGRAMS, "given:2", Path("given"), spark={"spark.a": "given"}, kafka={"client.id": "given"}
    )
    assert both == Settings(
        bootstrap_servers="given:2",
        checkpoint_dir=Path("given"),
        spark={"spark.a": "given", "spark.b": "programs"},
        kafka={"client.id": "given", "client.rack": "programs"},
    )
    assert overridden(PROGRAMS, None, None, spark={}, kafka={}) == PROGRAMS


def test_readers_use_the_cluster_that_sinks_use_and_see_what_is_committed() -> None:
    kafka = {"bootstrap.servers": "other:1", "isolation.level": "read_uncommitted", "a": "b"}
    options = reading_options("here:9092", kafka)
    assert options["kafka.bootstrap.servers"] == "here:9092"
    assert options["kafka.isolation.level"] == "read_committed"
    assert options["kafka.a"] == "b"


@pytest.mark.parametrize("is_relative", [True, False])
def test_an_error_has_the_programs_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_relative: bool
) -> None:
    (tmp_path / "alerts.py").write_text("x = 1\n\ny = boom\n")
    # What it changes in this process is put back: where modules are found, and which is the main.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", "")
    program = Path("alerts.py") if is_relative else tmp_path / "alerts.py"
    with pytest.raises(ProgramError, match=f"^{program}:3: NameError: name 'boom'"):
        load_app(program)


@pytest.mark.parametrize("option", ["--once", "--describe"])
def test_a_program_that_cannot_run_is_refused_with_its_line(tmp_path: Path, option: str) -> None:
    program = tmp_path / "circle.py"
    program.write_text(
        "from headwater.streams import App\n"
        "app = App('app')\n"
        "app.stream('a', value='string').to('b')\n"
        "app.stream('b', value='string').to('a')\n"
    )
    refused = Cli("127.0.0.1:1")("run", program, option)
    assert refused.code == 1
    assert "circle.py:4: 'a' is read, 'b' is written from it at" in refused.err
    assert "fault in Headwater" not in refused.err
