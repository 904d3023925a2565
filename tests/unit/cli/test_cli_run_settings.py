"""What `headwater run` makes of a program and its options before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli

from headwater.cli.commands.run import run
from headwater.cli.run.program import ProgramError, load_app
from headwater.clients import ClusterAccess, RegistryAccess
from headwater.plan.plan import Plan, ProgramSettings
from headwater.spark.topics import reading_options

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """
from headwater.streams import App
app = App(
    "app",
    bootstrap_servers="programs:1",
    registry_url="http://programs:1",
    kafka={"client.id": "programs", "client.rack": "programs"},
    spark={"spark.a": "programs", "spark.b": "programs"},
)
app.stream("a", value="string").to("b")
"""


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., ProgramSettings]:
    """What a command line makes of a program's settings; nothing is run."""
    program = tmp_path / "app.py"
    program.write_text(PROGRAM)
    for name in ("BOOTSTRAP_SERVER", "REGISTRY"):
        monkeypatch.setenv(f"HEADWATER_{name}", "environment:1")
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    plans: list[Plan] = []
    monkeypatch.setattr("headwater.cli.commands.run._run", lambda plan, **_: plans.append(plan))

    def choose(*options: object) -> ProgramSettings:
        run.main([str(program), *map(str, options)], standalone_mode=False)
        return plans[-1].settings

    return choose


def test_the_command_line_wins_over_the_program(
    chosen: Callable[..., ProgramSettings], tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "bootstrap.servers=file:2\nclient.id=given\n"
        "schema.registry.url=https://file:2\nbasic.auth.user.info=ada:secret\n"
    )
    options = ["--command-config", file, "--conf", "spark.a=given", "--checkpoint-dir", tmp_path]
    settings = chosen(*options)
    assert settings == ProgramSettings(
        cluster=ClusterAccess("file:2", {"client.id": "given", "client.rack": "programs"}),
        registry=RegistryAccess(("https://file:2",), username="ada", password="secret"),
        checkpoint_dir=tmp_path,
        spark={"spark.a": "given", "spark.b": "programs"},
    )
    typed = chosen(*options, "--bootstrap-server", "typed:3", "--registry", "https://typed:3")
    assert typed.cluster.bootstrap_servers == "typed:3"
    assert typed.registry == RegistryAccess(("https://typed:3",), username="ada", password="secret")


def test_the_program_wins_over_the_environment(chosen: Callable[..., ProgramSettings]) -> None:
    settings = chosen()
    assert settings.cluster.bootstrap_servers == "programs:1"
    assert settings.registry == RegistryAccess(("http://programs:1",))


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
