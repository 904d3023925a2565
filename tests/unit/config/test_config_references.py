"""References to secrets: where they lead, and where they must not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.config.references import References, UnresolvedReferenceError, has_reference

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "users.properties").write_text('ann = it\'s "secret"\nempty=\n')
    (folder / "password").write_text("of a container\n")
    (tmp_path / "outside").write_text("not for you")
    return folder


def test_references_stand_for_what_kafkas_providers_read(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "from the environment")
    resolve = References().resolve
    assert resolve(f"${{file:{secrets}/users.properties:ann}}") == 'it\'s "secret"'
    assert resolve(f"${{file:{secrets}/users.properties:empty}}") == ""
    assert resolve(f"${{directory:{secrets}:password}}") == "of a container"
    assert resolve("a ${env:TOKEN}, ${env:TOKEN}") == (
        "a from the environment, from the environment"
    )


def test_what_is_no_reference_of_ours_stays_as_it_is() -> None:
    for text in ("plain", "${topic}", "$1", "${vault:secret:key}", "${}", "${env"):
        assert References().resolve(text) == text
        assert not has_reference(text)
    assert has_reference("user=${env:USER}")


def test_what_a_reference_yields_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "${env:INNER}")
    monkeypatch.setenv("INNER", "secret")
    assert References().resolve("${env:OUTER}") == "${env:INNER}"


def test_errors_name_the_setting_and_what_is_missing(secrets: Path) -> None:
    users = secrets / "users.properties"
    binary = secrets / "binary"
    binary.write_bytes(b"\xff\xfe")
    for reference, reason in {
        "${env:NO_SUCH_NAME}": "no such environment variable",
        f"${{file:{users}:bob}}": f"no 'bob' in {users}",
        f"${{file:{secrets}/none:bob}}": "No such file or directory",
        "${file:key}": "write ${file:/path/to.properties:key}",
        f"${{directory:{secrets}:../outside}}": "is no file's name",
        f"${{directory:{secrets}:binary}}": "not text in UTF-8",
    }.items():
        with pytest.raises(UnresolvedReferenceError) as refused:
            References().resolve_all({"sasl.password": reference})
        assert str(refused.value).startswith(f"sasl.password: {reference}: ")
        assert reason in str(refused.value)


def test_references_can_be_held_to_folders_and_names(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECT_PASSWORD", "yes")
    monkeypatch.setenv("OTHER", "no")
    references = References((secrets,), "CONNECT_.*")
    link = secrets / "link"
    link.symlink_to(secrets.parent / "outside")
    assert references.resolve(f"${{directory:{secrets}:password}}") == "of a container"
    assert references.resolve("${env:CONNECT_PASSWORD}") == "yes"
    for refused in (
        "${env:OTHER}",
        f"${{file:{secrets.parent}/outside:x}}",
        f"${{file:{secrets}/../outside:x}}",
        f"${{directory:{secrets}:link}}",
    ):
        with pytest.raises(UnresolvedReferenceError, match="may not be referred to"):
            references.resolve(refused)
