"""Basic authentication: who comes in, and that nobody has to wait for somebody else's hash."""

from __future__ import annotations

import asyncio
import base64
import threading
from typing import TYPE_CHECKING

import pytest

from headwater.http import basic_auth
from headwater.http.authentication import Credentials
from headwater.http.basic_auth import BasicAuth, UsersError
from headwater.http.errors import HttpError
from headwater.http.principals import Principal
from headwater.security.password_hash import hash_password

if TYPE_CHECKING:
    from pathlib import Path


def header(user: str, password: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{user}:{password}".encode())


def ask(auth: BasicAuth, authorization: bytes | None) -> Principal | None:
    return asyncio.run(auth.authenticate(Credentials(authorization)))


def test_users_come_from_a_file(tmp_path: Path) -> None:
    users = tmp_path / "users"
    hashed = hash_password("geheim", b"salt")
    users.write_text(f"# who may come in\nann: secret:1\n\nbob: {hashed}\n")
    auth = BasicAuth.from_file(users)
    assert ask(auth, header("ann", "secret:1")) == Principal("ann", method="BASIC")
    assert ask(auth, header("bob", "geheim")) == Principal("bob", method="BASIC")
    assert str(ask(auth, header("bob", "geheim"))) == "User:bob"
    for wrong in (
        None, b"", b"Bearer x", b"Basic !!!", b"Basic " + base64.b64encode(b"\xff"),
        header("ann", "x"), header("bob", hashed), header("eve", "secret:1"), header("", ""),
    ):  # fmt: skip
        assert ask(auth, wrong) is None
        assert auth.known(Credentials(wrong)) is None


def test_what_was_right_once_is_known_without_a_hash() -> None:
    auth = BasicAuth({"ann": hash_password("secret", b"salt")})
    credentials = Credentials(header("ann", "secret"))
    assert auth.known(credentials) is None
    asyncio.run(auth.authenticate(credentials))
    assert auth.known(credentials) == Principal("ann", method="BASIC")
    assert auth.known(Credentials(header("ann", "secret2"))) is None


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basic_auth, "MAX_REMEMBERED", 2)
    auth = BasicAuth(dict.fromkeys("abc", "x"))
    for name in "abc":
        ask(auth, header(name, "x"))
    known = [name for name in "abc" if auth.known(Credentials(header(name, "x")))]
    assert known == ["b", "c"]


def test_a_hash_is_computed_in_a_thread_once_for_all_who_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop_thread = threading.get_ident()
    hashed: list[int] = []
    go_on = threading.Event()

    def matches(password: str, expected: str) -> bool:
        hashed.append(threading.get_ident())
        return go_on.wait(60)

    async def run() -> list[Principal | None]:
        auth = BasicAuth({"ann": "x"})
        credentials = Credentials(header("ann", "x"))
        waiting = [asyncio.create_task(auth.authenticate(credentials)) for _ in range(50)]
        await asyncio.sleep(0)  # the loop goes on although the hash does not
        waiting[0].cancel()  # and whoever leaves takes nothing from the others
        go_on.set()
        return await asyncio.gather(*waiting[1:])

    monkeypatch.setattr(basic_auth, "matches", matches)
    assert asyncio.run(run()) == [Principal("ann", method="BASIC")] * 49
    assert len(hashed) == 1
    assert hashed[0] != loop_thread


def test_too_many_who_guess_are_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(basic_auth, "matches", lambda password, expected: not go_on.wait(60))

    async def run() -> None:
        auth = BasicAuth({"ann": "x"})
        guesses = [
            asyncio.create_task(auth.authenticate(Credentials(header("ann", str(number)))))
            for number in range(basic_auth.MAX_WAITING)
        ]
        await asyncio.sleep(0)
        with pytest.raises(HttpError) as failure:
            await auth.authenticate(Credentials(header("ann", "one more")))
        assert failure.value.status == 503
        assert (b"retry-after", b"1") in failure.value.headers
        go_on.set()
        assert set(await asyncio.gather(*guesses)) == {None}

    asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("", "nobody"), ("ann", "line 1"), ("ann:", "line 1"), (": x", "line 1"),
     ("a: pbkdf2-sha256$1", "ITERATIONS")],
)  # fmt: skip
def test_wrong_files_of_users_are_refused(text: str, complaint: str, tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text(text)
    with pytest.raises(UsersError, match=complaint):
        BasicAuth.from_file(users)
