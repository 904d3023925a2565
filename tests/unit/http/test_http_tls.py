"""Clients with certificates: who they are to the service, and who stays outside."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.certificates import Authority, Certificate, certificate_for_loopback
from tests.unit.http.running_app import HUNG_AFTER_S, RunningApp, app_of

from headwater.http.answers import Answer, answer
from headwater.http.basic_auth import BasicAuth
from headwater.http.listener_settings import ListenerConfig
from headwater.http.routes import Route
from headwater.http.tls import ClientAuthentication, server_context

if TYPE_CHECKING:
    from pathlib import Path

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
