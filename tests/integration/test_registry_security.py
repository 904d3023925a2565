"""TLS and basic authentication, also between instances."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError
from cryptography.hazmat.primitives import serialization
from tests.certificates import Certificate, certificate_for_loopback
from tests.integration.registry_fixtures import record
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HUNG_AFTER_S = 120.0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """One for 127.0.0.1 that vouches for itself."""
    return certificate_for_loopback(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("users") / "users.txt"
    path.write_text("ann: secret\n")
    return path


@pytest.fixture(scope="module")
def instances(
    bootstrap_servers: str, certificate: Certificate, users: Path
) -> Iterator[list[RegistryProcess]]:
    """Two, so that one has to ask the other."""
    options = [
        *("--certificate", str(certificate.certificate), "--key", str(certificate.key)),
        *("--users", str(users), "--property", f"ssl.ca.location={certificate.certificate}"),
    ]
    started = []
    for _ in range(2):
        process = RegistryProcess(bootstrap_servers, options)
        process.ca_file = str(certificate.certificate)
        process.user = ("ann", "secret")
        started.append(process.start())
    yield started
    # One client sleeps in the middle of a connection: nobody waits for it.
    sleeper = started[0].connect()
    sleeper.request("GET", "/")
    sleeper.getresponse().read()
    for process in started:
        process.stop()
        assert "graceful shutdown exceeded" not in process.text
    sleeper.close()


def test_everything_works_on_both(instances: list[RegistryProcess], topic: str) -> None:
    for number, registry in enumerate(instances):
        assert registry.scheme == "https"
        registry.register(f"{topic}-{number}", record(f"R{number}", "a"))
        assert registry.get(f"/subjects/{topic}-{number}/versions") == [1]


@pytest.mark.parametrize(
    "authorization", ["", "Basic", "Basic eA==", "Basic YW5uOndyb25n", "Bearer x"]
)
def test_strangers_stay_outside(
    instances: list[RegistryProcess], topic: str, authorization: str
) -> None:
    registry = instances[0]
    registry.get("/subjects")  # remembered now, but not for everybody
    for method, path, body in (
        ("GET", "/subjects", None),
        ("GET", "/metrics", None),
        ("GET", "/openapi.json", None),
        ("POST", f"/subjects/{topic}/versions", {"schema": '"int"'}),
    ):
        answer = registry.request(method, path, body, {"Authorization": authorization})
        assert answer.status == 401
        assert answer.body["error_code"] == 401
        assert answer.headers["www-authenticate"].startswith("Basic realm=")
    assert topic not in registry.get("/subjects")


def test_confluents_client(
    instances: list[RegistryProcess], certificate: Certificate, topic: str
) -> None:
    settings = {"url": instances[1].url, "ssl.ca.location": str(certificate.certificate)}
    client = SchemaRegistryClient({**settings, "basic.auth.user.info": "ann:secret"})
    assert client.register_schema(topic, Schema('"string"', "AVRO")) > 0
    stranger = SchemaRegistryClient({**settings, "basic.auth.user.info": "ann:x"})
    with pytest.raises(SchemaRegistryError) as failure:
        stranger.get_subjects()
    assert failure.value.http_status_code == 401


def test_plain_http_is_not_spoken(instances: list[RegistryProcess]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", instances[0].port, timeout=30)
    connection.request("GET", "/")
    with pytest.raises((http.client.HTTPException, OSError)):
        connection.getresponse()
    connection.close()
    assert instances[0].get("/") == {}


def test_clients_with_certificates(
    bootstrap_servers: str, certificate: Certificate, topic: str
) -> None:
    settings = {
        "ssl.certificate.location": certificate.certificate,
        "ssl.key.location": certificate.key,
        "ssl.ca.location": certificate.certificate,
        "ssl.client.authentication": "required",
        "request.logger.name": "requests",
        "schema.registry.group.id": f"{topic}-group",
        "kafkastore.topic": f"{topic}-schemas",
    }
    options = [f"--property={name}={value}" for name, value in settings.items()]
    both = [RegistryProcess(bootstrap_servers, options) for _ in range(2)]
    for number, process in enumerate(both):
        process.ca_file = str(certificate.certificate)
        process.client_certificate = certificate
        process.start()
        process.register(f"{topic}-{number}", record("R", "a"))  # the second asks the first
    for process in both:
        assert process.get("/subjects") == [f"{topic}-0", f"{topic}-1"]
        process.client_certificate = None
        with pytest.raises((ssl.SSLError, ConnectionError)):
            process.get("/subjects")
        process.stop()
        assert 'User:CN=headwater "GET /subjects HTTP/1.1" 200' in process.text


def refused(bootstrap_servers: str, **properties: Path) -> str:
    """Start a registry that has to end by itself with code 1, and return what it says."""
    command = [sys.executable, "-m", "headwater", "registry", "--port", "0"]
    for name, path in {"kafkastore.bootstrap.servers": bootstrap_servers, **properties}.items():
        command += ["--property", f"{name}={path}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG_AFTER_S)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_files_that_cannot_be_used_are_named(
    bootstrap_servers: str, certificate: Certificate, tmp_path: Path
) -> None:
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n")
    for broken, reason in ((tmp_path / "missing.pem", "No such file"), (garbage, "PEM")):
        said = refused(
            bootstrap_servers,
            **{"ssl.certificate.location": broken, "ssl.key.location": certificate.key},
        )
        assert f"can't start: {broken}" in said
        assert reason in said
    said = refused(
        bootstrap_servers,
        **{
            "ssl.certificate.location": certificate.certificate,
            "ssl.key.location": certificate.key,
            "ssl.ca.location": garbage,
        },
    )
    assert f"can't start: {garbage}" in said


def test_a_key_of_another_certificate_or_with_a_password(
    bootstrap_servers: str, certificate: Certificate, tmp_path: Path
) -> None:
    other = certificate_for_loopback(tmp_path)
    locked = tmp_path / "locked.key"
    key = serialization.load_pem_private_key(certificate.key.read_bytes(), None)
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    for unfit, reason in ((other.key, "is not the key of"), (locked, "has a password")):
        said = refused(
            bootstrap_servers,
            **{
                "ssl.certificate.location": certificate.certificate,
                "ssl.key.location": unfit,
            },
        )
        assert f"can't start: {unfit}" in said
        assert reason in said


def test_rules_say_who_may_do_what_to_which_subjects(
    bootstrap_servers: str, tmp_path: Path, topic: str
) -> None:
    (tmp_path / "users.txt").write_text("ann: a\nbob: b\nadmin: c\n")
    rules = [
        ("ann", "WRITE", "PREFIXED", "orders-"),
        ("bob", "READ", "LITERAL", "orders-value"),
        ("admin", "ADMIN", "LITERAL", "*"),
    ]
    (tmp_path / "rules.json").write_text(
        json.dumps(
            [
                {
                    "principal": f"User:{user}", "resourceType": "SUBJECT", "name": name,
                    "patternType": pattern, "operation": operation,
                }
                for user, operation, pattern, name in rules
            ]
        )
    )  # fmt: skip
    settings = {
        "authentication.users.file": tmp_path / "users.txt",
        "authorization.rules.file": tmp_path / "rules.json",
        "schema.registry.group.id": f"{topic}-rules",
        "kafkastore.topic": f"{topic}-schemas",
    }
    options = [f"--property={name}={value}" for name, value in settings.items()]
    # Two, so that the right is asked for wherever a request comes in.
    both = [RegistryProcess(bootstrap_servers, options).start() for _ in range(2)]
    registry, other = both

    def by(user: str, password: str) -> None:
        for process in both:
            process.user = (user, password)

    by("ann", "a")
    first = other.register("orders-value", record("R", "a"))
    refused = other.try_register("payments", record("P", "a"))
    assert refused.status == 403
    assert refused.body == {
        "error_code": 40301,
        "message": "Forbidden: User:ann has no WRITE on the subject payments",
    }
    assert registry.request("DELETE", "/subjects/orders-value").status == 403
    by("admin", "c")
    hidden = registry.register("payments", record("P", "a"))
    registry.register("orders-key", '"string"')
    assert registry.request("PUT", "/config", {"compatibility": "FULL"}).status == 200
    by("bob", "b")
    assert registry.get("/subjects") == ["orders-value"]
    assert [each["subject"] for each in registry.get("/schemas")] == ["orders-value"]
    assert registry.get(f"/schemas/ids/{first}/subjects") == ["orders-value"]
    assert registry.get("/subjects/:.:orders-value/versions") == [1]
    for method, path, body in (
        ("GET", f"/schemas/ids/{hidden}", None),
        ("GET", "/subjects/payments/versions", None),
        ("GET", "/subjects/:.:payments/versions", None),
        ("GET", "/contexts/./subjects/payments/versions", None),
        ("POST", "/subjects/orders-value/versions", {"schema": '"int"'}),
        ("POST", "/compatibility/subjects/payments/versions", {"schema": '"int"'}),
        ("PUT", "/config", {"compatibility": "NONE"}),
        ("PUT", "/mode/orders-value", {"mode": "READONLY"}),
        ("PUT", "/admin/loggers/headwater.registry", {"level": "INFO"}),
    ):
        assert registry.request(method, path, body).status == 403, path
    assert registry.request("GET", "/admin/loggers").status == 200
    by("admin", "c")
    loud = registry.request("PUT", "/admin/loggers/headwater.registry", {"level": "INFO"})
    assert loud.status == 200
    by("ann", "a")
    # To refer to a schema is to read it.
    reference = {"name": "P", "subject": "payments", "version": 1}
    refers = record("Q", "a") | {"fields": [{"name": "p", "type": "P"}]}
    assert registry.try_register("orders-2", refers, references=[reference]).status == 403
    for process in both:
        process.stop()
