"""HTTP to registries: connections kept, addresses tried in turn, faults told apart."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from typing import TYPE_CHECKING

import pytest
from tests.certificates import certificate_for_loopback
from tests.unit.serde.tiny_registry import TinyRegistry

from headwater.serde import RegistryError, RegistryUnreachableError, Schema, SchemaRegistryClient

if TYPE_CHECKING:
    from pathlib import Path

INT = Schema('"int"')


def unused_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_connections_are_kept(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    for number in range(10):
        registry.register_schema(f"subject-{number}", INT)
    assert len(server.requests) == 10
    assert server.connections == 1


def test_threads_have_their_own(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    def work(name: str) -> None:
        for number in range(20):
            assert registry.register_schema(f"{name}-{number}", INT) == 1

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 80
    assert server.connections <= 4


def test_a_connection_that_the_server_forgot_is_no_failure(server: TinyRegistry) -> None:
    server.forgets_connections = True
    with SchemaRegistryClient(server.url, retries=0) as registry:
        for number in range(5):
            assert registry.register_schema(f"subject-{number}", INT) == 1


def test_the_next_address_is_tried(server: TinyRegistry) -> None:
    with SchemaRegistryClient(f"{unused_url()},{server.url}", retries=0) as registry:
        assert registry.register_schema("subject", INT) == 1
        # The one that answered is asked first from then on.
        assert registry.get_latest_version("subject").id == 1


def test_no_address_answers() -> None:
    urls = [unused_url(), unused_url()]
    registry = SchemaRegistryClient(urls, retries=1)
    with pytest.raises(RegistryUnreachableError) as caught:
        registry.get_subjects()
    for url in urls:
        assert f"{url}: Connection refused" in str(caught.value)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_registry_is_asked_again(
    server: TinyRegistry, registry: SchemaRegistryClient, status: int
) -> None:
    server.answers = [(status, b"{}"), (status, b"no JSON")]
    assert registry.register_schema("subject", INT) == 1
    assert len(server.requests) == 3


def test_a_hang_up_in_the_middle_is_tried_again(
    server: TinyRegistry, registry: SchemaRegistryClient
) -> None:
    server.hang_ups = 2
    assert registry.register_schema("subject", INT) == 1


def test_a_refusal_is_final(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    server.answers = [(409, b'{"error_code": 409, "message": "Incompatible."}')]
    with pytest.raises(RegistryError) as caught:
        registry.register_schema("subject", INT)
    assert (caught.value.status, caught.value.error_code) == (409, 409)
    assert str(caught.value) == f"Incompatible (409, error code 409, from {server.url})"
    assert len(server.requests) == 1


def test_the_last_answer_counts_when_it_stays_busy(server: TinyRegistry) -> None:
    server.answers = [(503, b'{"error_code": 50003, "message": "no leader"}')] * 2
    with (
        SchemaRegistryClient(server.url, retries=1) as registry,
        pytest.raises(RegistryError, match="no leader"),
    ):
        registry.register_schema("subject", INT)


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, b"<html>not here</html>", "<html>not here</html>"),
        (200, b"<html>a proxy's page</html>", "a proxy's page"),
        (401, b"", "wants a user name and a password"),
        (403, b"", "Forbidden"),
        (418, b"{}", "the registry gave no reason"),
    ],
)
def test_what_is_no_answer_of_a_registry(
    server: TinyRegistry, registry: SchemaRegistryClient, status: int, body: bytes, message: str
) -> None:
    server.answers = [(status, body)]
    with pytest.raises(RegistryError, match=message) as caught:
        registry.get_subjects()
    assert caught.value.status == status


@pytest.mark.parametrize("in_url", [True, False])
def test_basic_auth(server: TinyRegistry, in_url: bool) -> None:
    wanted = "Basic " + base64.b64encode(b"ada:p@ss:word").decode()
    if in_url:
        client = SchemaRegistryClient(server.url.replace("//", "//ada:p%40ss%3Aword@"))
    else:
        client = SchemaRegistryClient(server.url, username="ada", password="p@ss:word")
    with client as registry:
        registry.register_schema("subject", INT)
    assert server.headers[-1]["Authorization"] == wanted


def test_an_address_with_a_path(server: TinyRegistry) -> None:
    with (
        SchemaRegistryClient(f"{server.url}/registry/") as registry,
        pytest.raises(RegistryError),
    ):
        registry.get_version(":.context:a/b c", 3)
    assert server.requests == [
        ("GET", "/registry/subjects/%3A.context%3Aa%2Fb%20c/versions/3"),
    ]


@pytest.mark.parametrize("url", ["localhost:8081", "ftp://localhost", "http://", "", " , "])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match="address of a registry"):
        SchemaRegistryClient(url)


def test_a_time_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        registry = SchemaRegistryClient(url, timeout_s=0.2, retries=0)
        with pytest.raises(RegistryUnreachableError, match="timed out"):
            registry.get_subjects()


def test_tls(tmp_path: Path) -> None:
    certificate, key = certificate_for_loopback(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with TinyRegistry(tls) as server:
        with SchemaRegistryClient(server.url, ca_file=str(certificate)) as registry:
            assert registry.register_schema("subject", INT) == 1
        with SchemaRegistryClient(server.url, verify=False) as registry:
            assert registry.register_schema("subject", INT) == 1
        with (
            SchemaRegistryClient(server.url) as registry,
            pytest.raises(RegistryUnreachableError, match=r"is not trusted: .* as ca_file"),
        ):
            registry.register_schema("subject", INT)


def test_tls_with_a_clients_certificate(tmp_path: Path) -> None:
    certificate, key = certificate_for_loopback(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    tls.load_verify_locations(certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    with TinyRegistry(tls) as server:
        ca_file = str(certificate)
        with SchemaRegistryClient(
            server.url, ca_file=ca_file, cert_file=str(certificate), key_file=str(key)
        ) as registry:
            assert registry.register_schema("subject", INT) == 1
        with (
            SchemaRegistryClient(server.url, ca_file=ca_file, retries=0) as registry,
            pytest.raises(RegistryUnreachableError),
        ):
            registry.register_schema("subject", INT)
