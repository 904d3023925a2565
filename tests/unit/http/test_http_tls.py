"""Clients with certificates: who they are to the service, and who stays outside."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.certificates import DAY, Authority, Certificate, certificate_for_loopback, revoked_by
from tests.unit.http.running_app import HUNG_AFTER_S, RunningApp, app_of

from headwater.config import ConfigError, Definitions, Values
from headwater.http.answers import Answer, answer
from headwater.http.basic_auth import BasicAuth
from headwater.http.errors import StartError
from headwater.http.listener_settings import ListenerConfig, listener_definitions
from headwater.http.routes import Route
from headwater.http.tls import ClientAuthentication, server_context
from headwater.security.subjects import subject_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.certificates import Issued

    from headwater.http.request import Request


async def who(service: Any, request: Request) -> Answer:
    return answer([str(request.principal), request.principal.method])


def ask(running: RunningApp, server: Certificate, client: Certificate | None) -> Any:
    context = ssl.create_default_context(cafile=server.certificate)
    if client is not None:
        context.load_cert_chain(client.certificate, client.key)
    connection = http.client.HTTPSConnection(
        "127.0.0.1", running.port, timeout=HUNG_AFTER_S, context=context
    )
    try:
        connection.request("GET", "/who")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_certificates_of_clients(tmp_path: Path) -> None:
    made: dict[str, Certificate] = {}
    for name in ("server", "client", "stranger"):
        (tmp_path / name).mkdir()
        made[name] = certificate_for_loopback(tmp_path / name)
    server, client, stranger = made.values()
    app = app_of(Route("GET", "/who", who, "", ""))
    for clients in ClientAuthentication:
        context = server_context(server.certificate, server.key, client.certificate, clients)
        with RunningApp(app, tls=context) as running:
            if clients is ClientAuthentication.NONE:
                assert ask(running, server, client) == ["User:ANONYMOUS", ""]
                continue
            assert ask(running, server, client) == ["User:CN=headwater", "SSL"]
            with pytest.raises((ssl.SSLError, ConnectionError)):
                ask(running, server, stranger)
            if clients is ClientAuthentication.REQUESTED:
                assert ask(running, server, None) == ["User:ANONYMOUS", ""]
            else:
                with pytest.raises((ssl.SSLError, ConnectionError)):
                    ask(running, server, None)


def test_a_certificate_does_instead_of_a_password(tmp_path: Path) -> None:
    authority = Authority()
    (tmp_path / "authority.pem").write_text(authority.certificate)
    (tmp_path / "users.txt").write_text("ann: secret\n")
    made: dict[str, Certificate] = {}
    for subject in ("CN=server", "CN=ann,O=plant", "CN=bob", "O=CN\\=ann"):
        issued = authority.issue(subject)
        files = Certificate(tmp_path / f"{len(made)}.pem", tmp_path / f"{len(made)}.key")
        files.certificate.write_text(issued.certificate)
        files.key.write_text(issued.key)
        made[subject] = files
    server, ann, *others = made.values()
    config = ListenerConfig(
        users_file=tmp_path / "users.txt",
        certificate_file=server.certificate,
        key_file=server.key,
        ca_file=tmp_path / "authority.pem",
        client_authentication=ClientAuthentication.REQUESTED,
    )
    trusted = server._replace(certificate=tmp_path / "authority.pem")
    app = app_of(Route("GET", "/who", who, "", ""), authenticator=config.authenticator("test"))
    with RunningApp(app, tls=config.tls()) as running:
        assert ask(running, trusted, ann) == ["User:ann", "SSL"]
        for stranger in (None, *others):
            assert ask(running, trusted, stranger)["error_code"] == 401
    # Without an authority of one's own, or where nobody is asked, it takes the password.
    for changed in ({"ca_file": None}, {"client_authentication": ClientAuthentication.REQUIRED}):
        assert isinstance(replace(config, **changed).authenticator("test"), BasicAuth)


def written(path: Path, issued: Issued) -> Certificate:
    files = Certificate(path.with_suffix(".pem"), path.with_suffix(".key"))
    files.key.write_text(issued.key)
    files.certificate.write_text(issued.certificate)
    return files


class Door:
    """A service with certificates for server, ann and eve, and a list of those revoked."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority()
        self.folder = folder
        self.trusted = folder / "authority.pem"
        self.trusted.write_text(self.authority.certificate)
        self.server = written(folder / "server", self.authority.issue("CN=server"))
        self.issued = {name: self.authority.issue(f"CN={name}") for name in ("ann", "eve")}
        self.clients = {name: written(folder / name, it) for name, it in self.issued.items()}
        self.lists = folder / "revoked.pem"
        self.lists.write_text(revoked_by(self.authority))
        self.config = ListenerConfig(
            certificate_file=self.server.certificate,
            key_file=self.server.key,
            ca_file=self.trusted,
            client_authentication=ClientAuthentication.REQUIRED,
            revocations_file=self.lists,
        )

    def lets_in(self, running: RunningApp, name: str) -> bool:
        trusting = self.server._replace(certificate=self.trusted)
        try:
            return bool(ask(running, trusting, self.clients[name]) == [f"User:CN={name}", "SSL"])
        except (ssl.SSLError, ConnectionError):
            return False


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def test_who_was_revoked_stays_outside_without_a_restart(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    app = app_of(Route("GET", "/who", who, "", ""))
    with RunningApp(app, tls=door.config.tls()) as running:
        assert door.lets_in(running, "ann")
        assert door.lets_in(running, "eve")
        door.lists.write_text(revoked_by(door.authority, door.issued["eve"]))
        assert door.lets_in(running, "ann")
        assert not door.lets_in(running, "eve")
        assert "a client's certificate was refused: it was revoked" in caplog.text
        # A list of no use is not taken over.
        door.lists.write_text(revoked_by(door.authority, lasts=-DAY))
        assert not door.lets_in(running, "eve")
        assert "the old certificates stay: Invalid value" in caplog.text
        assert door.lets_in(running, "ann")
        # Nobody comes in of whom it cannot be told.
        door.lists.write_text(revoked_by(Authority("another")))
        assert not door.lets_in(running, "ann")
        assert "has no list of the authority" in caplog.text
        door.lists.write_text(revoked_by(door.authority))
        assert door.lets_in(running, "eve")


def test_a_session_of_before_does_not_bring_a_revoked_certificate_back(door: Door) -> None:
    app = app_of(Route("GET", "/who", who, "", ""))
    eve = door.clients["eve"]
    context = ssl.create_default_context(cafile=door.trusted)
    context.load_cert_chain(eve.certificate, eve.key)

    def session_of(running: RunningApp, before: ssl.SSLSession | None) -> ssl.SSLSession | None:
        raw = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
        with context.wrap_socket(raw, server_hostname="localhost", session=before) as peer:
            peer.sendall(b"GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if not peer.recv(1000).startswith(b"HTTP/1.1 200"):
                raise ConnectionError
            assert peer.session_reused == (before is not None)
            return peer.session

    with RunningApp(app, tls=door.config.tls()) as running:
        session = session_of(running, None)
        session = session_of(running, session)
        door.lists.write_text(revoked_by(door.authority, door.issued["eve"]))
        with pytest.raises((ssl.SSLError, ConnectionError)):
            session_of(running, session)


def test_new_certificates_are_taken_over_if_they_can_be_used(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "headwater.http")
    app = app_of(Route("GET", "/who", who, "", ""))
    with RunningApp(app, tls=door.config.tls()) as running:

        def shown() -> str:
            context = ssl.create_default_context(cafile=door.trusted)
            context.load_cert_chain(*door.clients["ann"])
            raw = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
            with context.wrap_socket(raw, server_hostname="localhost") as peer:
                return subject_of(peer.getpeercert(binary_form=True) or b"")

        assert shown() == "CN=server"
        other = Authority("other")
        for refused, why in (
            (door.authority.issue("CN=second", ends=-DAY / 2), "has expired"),
            (door.authority.issue("CN=second", starts=DAY), "is not valid yet"),
            (door.authority.issue("CN=second", names=()), "lacks localhost"),
        ):
            written(door.folder / "server", refused)
            assert shown() == "CN=server"
            assert why in caplog.text
        door.server.certificate.write_text("nothing")
        assert shown() == "CN=server"
        written(door.folder / "server", door.authority.issue("CN=second"))
        door.trusted.write_text(other.certificate)
        with pytest.raises(ssl.SSLCertVerificationError):
            shown()
        assert "has no authority that was trusted so far" in caplog.text
        door.trusted.write_text(other.certificate + door.authority.certificate)
        assert shown() == "CN=second"
        assert "were taken over" in caplog.text


def test_comments_may_be_in_any_letters(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "headwater.http")

    def comment() -> None:
        for path in (door.server.certificate, door.trusted):
            path.write_bytes("Größe\n".encode("latin-1") + path.read_bytes())

    comment()
    with RunningApp(app_of(Route("GET", "/who", who, "", "")), tls=door.config.tls()) as running:
        assert door.lets_in(running, "ann")
        comment()
        assert door.lets_in(running, "ann")
        assert "were taken over" in caplog.text


@pytest.mark.parametrize("text", [None, "nothing", revoked_by(Authority(), lasts=-DAY)])
def test_a_service_does_not_start_with_lists_of_no_use(door: Door, text: str | None) -> None:
    door.lists.unlink()
    if text is not None:
        door.lists.write_text(text)
    with pytest.raises(StartError, match=r"headwater\.ssl\.crl\.location"):
        door.config.tls()


def test_the_setting_is_taken_by_its_name(door: Door) -> None:
    definitions = Definitions("test", *listener_definitions(0))
    config = ListenerConfig()
    given = {"headwater.ssl.crl.location": str(door.lists)}
    assert config.take("headwater.ssl.crl.location", Values(definitions, given))
    assert config.revocations_file == door.lists
    with pytest.raises(ConfigError, match=r"set ssl\.client\.authentication"):
        config.check()
    door.config.check()
