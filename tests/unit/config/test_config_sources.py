from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.config import ConfigDef, ConfigError, ConfigType, Definitions, Values
from headwater.config.references import UnresolvedReferenceError
from headwater.config.sources import (
    as_variables,
    from_environment,
    from_file,
    from_options,
    misspelt_variables,
    variable_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.config.given import Given

SETTINGS = Definitions(
    "rest",
    ConfigDef("port", ConfigType.INT, 8082, "The port."),
    ConfigDef("rest.id", ConfigType.STRING, None, "A name that starts as the service does."),
    ConfigDef("max-size.bytes", ConfigType.LONG, 1, "A name with a hyphen."),
    open_prefixes=("client.",),
)


def failure(given: Given) -> str:
    with pytest.raises(ConfigError) as caught:
        Values(SETTINGS, given)
    return given.explain(caught.value)


def test_a_line_of_a_properties_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rest.properties"
    path.write_text("# mine\n\nport=many\n")
    assert failure(from_file(path, SETTINGS)) == (
        f"{path}, line 3: Invalid value many for configuration port: it is not a whole number"
    )


def test_a_table_of_headwater_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "headwater.toml"
    path.write_text('[up]\ndata = "d"\n[rest]\nport = "many"\nrest.id = "r"\n')
    given = from_file(path, SETTINGS, {"up"})
    assert dict(given) == {"port": "many", "rest.id": "r"}
    assert failure(given).startswith(f"{path}, [rest]: Invalid value many")


def test_a_misspelt_name_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "rest.toml"
    path.write_text("prot = 1\n")
    assert failure(from_file(path, SETTINGS)) == (
        f"{path}: Unknown setting prot: there is no rest setting of that name; did you mean port?"
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"[rest\n", "line 1"), (b"port = '\xff'\n", "utf-8"), (b"port = [1]\n", "port")],
)
def test_a_file_that_cannot_be_read_is_named(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "rest.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"rest\.toml: .*{reason}"):
        from_file(path, SETTINGS)


def test_variables_are_named_after_service_and_setting() -> None:
    environment = {
        "HEADWATER_REST_PORT": "80",
        "HEADWATER_REST_REST_ID": "r",
        "HEADWATER_REST_MAX_SIZE_BYTES": "2",
        "HEADWATER_REST_CLIENT_LINGER_MS": "5",
        "HEADWATER_REST_SERVICE_HOST": "10.0.0.1",
        "HEADWATER_RESTART": "x",
        "PORT": "1",
    }
    given = from_environment(environment, SETTINGS)
    assert dict(given) == {
        "port": "80", "rest.id": "r", "max-size.bytes": "2", "client.linger.ms": "5",
    }  # fmt: skip
    assert all(variable_of("rest", name) in environment for name in given)
    assert misspelt_variables(environment, SETTINGS) == {}


def test_a_variables_name_is_in_the_message() -> None:
    given = from_environment({"HEADWATER_REST_PORT": "x"}, SETTINGS)
    assert failure(given).startswith("environment variable HEADWATER_REST_PORT: Invalid value x")


def test_what_no_variable_can_name_is_in_one_for_all() -> None:
    settings = {"port": "80", "client.a_b": "c", "client.Odd-One": "\N{SNOWMAN} = x"}
    environment = as_variables("rest", settings)
    assert sorted(environment) == ["HEADWATER_OTHERS_REST", "HEADWATER_REST_PORT"]
    given = from_environment(environment, SETTINGS)
    assert dict(given) == settings
    assert given.place("client.a_b") == "environment variable HEADWATER_OTHERS_REST"
    assert misspelt_variables(environment, SETTINGS) == {}
    assert as_variables("rest", {}) == {}


@pytest.mark.parametrize("text", ["hush", '["hush"]', '{"hush": 1}'])
def test_one_for_all_that_is_no_object_of_strings_is_not_shown(text: str) -> None:
    with pytest.raises(ValueError, match="HEADWATER_OTHERS_REST: it has to be") as refused:
        from_environment({"HEADWATER_OTHERS_REST": text}, SETTINGS)
    assert "hush" not in str(refused.value)


def test_variables_that_look_like_a_slip_are_found() -> None:
    environment = {"HEADWATER_REST_MAX_SIZE_BYTE": "1", "HEADWATER_REST_USER": "ann"}
    assert misspelt_variables(environment, SETTINGS) == {
        "HEADWATER_REST_MAX_SIZE_BYTE": "HEADWATER_REST_MAX_SIZE_BYTES"
    }


def test_without_variables_no_setting_is_looked_at() -> None:
    def rest() -> list[ConfigDef]:
        raise AssertionError("asked for")

    settings = Definitions("rest", rest=rest)
    assert dict(from_environment({"PATH": "/bin"}, settings)) == {}
    assert misspelt_variables({"PATH": "/bin"}, settings) == {}


def test_the_last_one_laid_on_top_wins() -> None:
    given = from_options({"port": "1", "rest.id": "r"}, "--property")
    given |= from_options({"port": "2"}, "--port")
    assert dict(given) == {"port": "2", "rest.id": "r"}
    assert (given.place("port"), given.place("rest.id")) == ("--port", "--property")
    assert given.place("max-size.bytes") is None


def test_references_are_resolved_and_what_they_stand_for_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PORT", "4711x")
    given = from_options({"port": "${env:PORT}", "client.password": "${env:PORT}"}, "--property")
    resolved = given.resolved(SETTINGS)
    # The client library's own is resolved by who hands it on, as late as can be.
    assert dict(resolved) == {"port": "4711x", "client.password": "${env:PORT}"}
    assert failure(resolved) == (
        "--property: Invalid value ${env:PORT} for configuration port: it is not a whole number"
    )


def test_a_reference_that_leads_nowhere_is_named_with_its_place() -> None:
    given = from_options({"port": "${env:NO_SUCH_PORT}"}, "--property")
    with pytest.raises(UnresolvedReferenceError) as refused:
        given.resolved()
    assert str(refused.value) == (
        "--property: port: ${env:NO_SUCH_PORT}: there is no such environment variable"
    )
