"""The options of `headwater up`, on the command line and in headwater.toml."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from headwater.cli.app import headwater
from headwater.cli.commands import up
from headwater.up.services import SERVICES
from headwater.up.services.spark import SparkServiceFactory
from headwater.up.timing import Timing

if TYPE_CHECKING:
    from click.testing import Result

    from headwater.up.platform import Platform
    from headwater.up.settings import PlatformSettings


class Ran:
    """Runs `headwater up` up to the point where processes would start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        self.platform: Platform | None = None
        monkeypatch.setattr(up, "_run", self._run)
        monkeypatch.chdir(directory)

    def __call__(self, *options: str) -> Result:
        return CliRunner().invoke(headwater, ["up", *options])

    def settings(self, *options: str) -> PlatformSettings:
        result = self("--free-ports", *options)
        assert result.exit_code == 0, result.output
        assert self.platform is not None
        return self.platform.settings

    def _run(self, platform: Platform) -> int:
        self.platform = platform
        return 0


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ran:
    return Ran(monkeypatch, tmp_path)


def test_defaults(run: Ran) -> None:
    settings = run.settings()
    assert settings.data == Path.home() / ".headwater" / "up"
    assert (settings.host, settings.port_offset, settings.bootstrap_server) == (
        "127.0.0.1",
        0,
        None,
    )
    assert settings.properties == {}


def test_options(run: Ran) -> None:
    settings = run.settings(
        *("--data", "d", "--host", "127.0.0.2"),
        *("--property", "broker.num.partitions=3", "--property", "broker.flush=os"),
    )
    assert (settings.data, settings.host) == (Path("d"), "127.0.0.2")
    assert settings.properties == {"broker": {"num.partitions": "3", "flush": "os"}}


def test_the_file_in_the_working_directory(run: Ran, tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text(
        """
        [up]
        data = "from-file"
        host = "127.0.0.3"
        port-offset = 7
        [broker]
        num.partitions = 3
        flush = "os"
        """
    )
    settings = run.settings()
    assert (settings.data, settings.host) == (Path("from-file"), "127.0.0.3")
    assert settings.port_offset == 7
    assert settings.properties == {"broker": {"num.partitions": "3", "flush": "os"}}
    over = run.settings("--host", "127.0.0.4", "--property", "broker.num.partitions=5")
    assert (over.data, over.host) == (Path("from-file"), "127.0.0.4")
    assert over.properties["broker"] == {"num.partitions": "5", "flush": "os"}


def test_the_environment_wins_over_the_file_and_is_left_to_the_services(
    run: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "headwater.toml").write_text("[broker]\nnum.partitions = 3\nflush = 'os'\n")
    monkeypatch.setenv("HEADWATER_BROKER_NUM_PARTITIONS", "4")
    assert run.settings().properties == {"broker": {"flush": "os"}}
    over = run.settings("--property", "broker.num.partitions=5")
    assert over.properties == {"broker": {"flush": "os", "num.partitions": "5"}}


def test_settings_that_no_variable_can_name_come_from_all_places(
    run: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "[registry]\n'kafkastore.a_b' = 1\n'kafkastore.c_d' = 1\n"
    (tmp_path / "headwater.toml").write_text(table)
    given = {"kafkastore.c_d": "2", "kafkastore.e_f": "2"}
    monkeypatch.setenv("HEADWATER_OTHERS_REGISTRY", json.dumps(given))
    found = run.settings("--property", "registry.kafkastore.e_f=3").properties["registry"]
    assert found == {"kafkastore.a_b": "1", "kafkastore.c_d": "2", "kafkastore.e_f": "3"}
    assert run.platform is not None
    (registry,) = (each for each in run.platform.services if each.name == "registry")
    assert json.loads(registry.environment["HEADWATER_OTHERS_REGISTRY"]) == found
    monkeypatch.setenv("HEADWATER_OTHERS_REGISTRY", "hush")
    result = run()
    assert (result.exit_code, "HEADWATER_OTHERS_REGISTRY: it has" in result.output) == (2, True)


def test_which_services(run: Ran, tmp_path: Path) -> None:
    def names(*options: str) -> list[str]:
        run.settings(*options)
        assert run.platform is not None
        return [service.name for service in run.platform.services]

    assert names() == ["broker", "registry", "console"]
    assert names("--without", "registry,console") == ["broker"]
    (tmp_path / "headwater.toml").write_text('[up]\nservices = ["broker"]\n')
    assert names() == ["broker"]
    assert names("--with", "registry") == ["broker", "registry"]
    assert names("--services", "registry") == ["broker", "registry"]


def test_how_health_is_watched(run: Ran, tmp_path: Path) -> None:
    assert run.settings().timing == Timing()
    (tmp_path / "headwater.toml").write_text(
        "[up]\nhealth-interval = 2.5\nrestart-after-misses = 0\n"
    )
    timing = run.settings("--health-interval", "7").timing
    assert (timing.look_every_s, timing.restart_after_misses) == (7, 0)


def test_a_file_elsewhere_means_data_beside_it(run: Ran, tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text("[up]\nhost = 'not.read'\n")
    elsewhere = tmp_path / "etc" / "platform.toml"
    elsewhere.parent.mkdir()
    elsewhere.write_text("[up]\ndata = 'data'\nfree-ports = true\n")
    settings = run.settings("--config", str(elsewhere))
    assert settings.data == elsewhere.parent / "data"
    assert settings.free_ports


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[up]\nprot-offset = 1\n", "there is no option 'prot-offset' under [up]; there are data"),
        ("[up]\nport-offset = 'x'\n", "'x' is not a valid integer range"),
        ("data = 'x'\n", "put 'data' under [up], or under its service"),
        (
            "[up]\nservices = ['x']\n",
            "there is no service 'x'; there are broker, registry, ",
        ),
        ("[up]\nservices = []\n", "there is no service left to run"),
        ("[up]\nstatus = true\n", "there is no option 'status' under [up]"),
        ("[brokr]\na = 1\n", "There is no service 'brokr'; there are broker, registry, "),
        ("[broker]\nlisteners = 'x'\n", "set with --host and --port-offset"),
        ("[up\n", "headwater.toml: "),
        (
            "[broker]\nnum.partitions = 'x'\n",
            "headwater.toml, [broker]: Invalid value x for configuration num.partitions",
        ),
        ("[registry]\nread.onyl = true\n", "did you mean read.only?"),
    ],
)
def test_a_wrong_file(run: Ran, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "headwater.toml").write_text(text)
    result = run()
    assert (result.exit_code, message in result.output) == (2, True), result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[copier]\nsuffix = 'x'\n",
            "headwater.toml, [copier]: Invalid value x for configuration suffix: it has to start",
        ),
        ("[copier]\nsufix = '-x'\n", "headwater.toml, [copier]: Unknown setting sufix"),
        (
            "[copier]\nssl.certificate.location = 'a.pem'\n",
            "ssl.key.location: TLS needs both a certificate and its key",
        ),
        (
            "[copier]\nssl.certificate.location = 'a.pem'\nssl.key.location = 'a.key'\n",
            "[copier]: a.pem: No such file",
        ),
        (
            "[registry]\nssl.certificate.location = 'a.pem'\nssl.key.location = 'a.key'\n",
            "[registry]: a.pem: No such file",
        ),
    ],
)
@pytest.mark.parametrize("engine", ["embedded", "kafka"])
def test_services_are_checked_before_anything_starts(
    run: Ran, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, message: str, engine: str
) -> None:
    copier = SparkServiceFactory("copier", "tests.integration.copy_service:COPIER", "Copies")
    monkeypatch.setattr("headwater.up.services.SERVICES", (*SERVICES, copier))
    (tmp_path / "headwater.toml").write_text(text)
    result = run("--engine", engine, "--data", str(tmp_path / "data"))
    assert (result.exit_code, message in result.output) == (2, True), result.output
    assert run.platform is None
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--property", "num.partitions=3"], 2, "There is no service 'num'"),
        (
            ["--property", "broker.flush=x"],
            2,
            "--property: Invalid value x for configuration flush",
        ),
        (["--property", "broker=3"], 2, "A setting is named after its service"),
        (["--json"], 2, "--json is for --status"),
        (["--with", "sqll"], 2, "there is no service 'sqll'; there are broker, registry, "),
        (["--without", "broker"], 2, "needs 'broker', which is left out"),
        (["--health-interval", "0"], 2, "0.0 is not in the range"),
        (["--port-offset", "100000"], 2, "100000 is not in the range"),
        (["--brokers", "3"], 2, "--brokers is for --engine kafka"),
        (["--racks", "a,b"], 2, "--racks is for --engine kafka"),
        (["--engine", "kafka", "--bootstrap-server", "k:1"], 2, "or --bootstrap-server, not both"),
        (["--engine", "kafka", "--brokers", "0"], 2, "0 is not in the range"),
        (
            ["--engine", "kafka", "--property", "broker-2.a=b"],
            2,
            "no service 'broker-2'; there are broker, controller, broker-1, registry",
        ),
        (["--command-config", __file__], 2, "for the cluster of --bootstrap-server"),
        (["--bootstrap-server", "kafka"], 2, "'kafka' is not of the form HOST:PORT"),
        (["--bootstrap-server", "127.0.0.1:1"], 1, "127.0.0.1:1: Connection refused"),
        (["--security", "x"], 2, "--security DIR is for --secure."),
        (["--secure", "--engine", "kafka"], 2, "--secure is for the embedded broker"),
        (
            ["--secure", "--property", "broker.headwater.metrics.port=0"],
            2,
            "the broker would listen in plain text",
        ),
    ],
)
def test_wrong_options(run: Ran, options: list[str], code: int, message: str) -> None:
    result = run(*options)
    assert (result.exit_code, message in result.output) == (code, True), result.output
    assert run.platform is None


def test_a_taken_port(run: Ran) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("--port-offset", str(port - 9092))
    assert result.exit_code == 1
    assert f"port {port}, where the broker should listen, cannot be had" in result.output


def test_an_existing_cluster(run: Ran) -> None:
    with socket.create_server(("127.0.0.1", 0)) as cluster:
        server = f"127.0.0.1:{cluster.getsockname()[1]}"
        settings = run.settings("--bootstrap-server", f"127.0.0.1:1,{server}")
    assert settings.bootstrap_server == f"127.0.0.1:1,{server}"
    assert run.platform is not None
    assert [service.name for service in run.platform.services] == ["registry", "console"]
