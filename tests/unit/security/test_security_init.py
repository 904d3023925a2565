"""A kit: whole or not there, for its owner's eyes, and good for the libraries that read it."""

from __future__ import annotations

import os
import signal
import ssl
import stat
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from headwater.clients import ClusterAccess
from headwater.clients.shared_properties import split_properties
from headwater.config.properties import parse_properties
from headwater.http.basic_auth import BasicAuth
from headwater.security.init import KitError, KitPlan, add_service, make_kit

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.security.kit import SecurityKit


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> SecurityKit:
    folder = tmp_path_factory.mktemp("kit") / "security"
    return make_kit(folder, KitPlan(hosts=("kafka.plant.example", "192.0.2.7"), users=("ann",)))


def test_only_the_owner_can_read_any_of_it(kit: SecurityKit) -> None:
    for path in (kit.folder, *kit.folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_certificates_are_for_the_names_that_matter(kit: SecurityKit) -> None:
    context = ssl.create_default_context(cafile=str(kit.authority))
    context.load_cert_chain(kit.service_certificate, kit.service_key)
    chain = x509.load_pem_x509_certificates(kit.broker_store.read_bytes())
    names = chain[0].extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "kafka.plant.example"} <= set(names.get_values_for_type(x509.DNSName))
    assert {"127.0.0.1", "::1", "192.0.2.7"} <= {
        str(address) for address in names.get_values_for_type(x509.IPAddress)
    }
    chain[0].verify_directly_issued_by(x509.load_pem_x509_certificate(kit.authority.read_bytes()))


def test_a_user_has_what_each_client_library_needs(kit: SecurityKit) -> None:
    ann = kit.user("ann")
    password = parse_properties(ann.secrets.read_text())["password"]
    of_java, of_registry = split_properties(parse_properties(ann.java.read_text()))
    librdkafka = ClusterAccess.of(of_java).librdkafka()
    assert (librdkafka["sasl.username"], librdkafka["sasl.password"]) == ("ann", password)
    assert librdkafka["ssl.ca.location"] == str(kit.authority)
    assert of_registry["schema.registry.basic.auth.user.info"] == f"ann:{password}"
    assert parse_properties(ann.librdkafka.read_text())["sasl.password"] == password
    _, certificate, others = pkcs12.load_key_and_certificates(
        ann.store.read_bytes(), password.encode()
    )
    assert certificate is not None
    assert certificate.subject.rfc4514_string() == "CN=ann"
    assert len(others) == 1
    BasicAuth.from_file(kit.http_users)
    # The broker is given a hash, and the list of HTTP's users has one as well.
    for path in (kit.beginning, kit.http_users, kit.broker_properties):
        assert password not in path.read_text()


def test_nothing_is_overwritten(kit: SecurityKit, tmp_path: Path) -> None:
    before = kit.authority.read_bytes()
    with pytest.raises(KitError, match="not empty"):
        make_kit(kit.folder, KitPlan())
    assert kit.authority.read_bytes() == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(KitError, match="no folder"):
        make_kit(tmp_path / "file", KitPlan())
    (tmp_path / "empty").mkdir()
    assert make_kit(tmp_path / "empty", KitPlan()).exists


def test_names_that_could_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    for name in ("../ann", "", 'a"b', "a b", ".hidden"):
        with pytest.raises(KitError, match="is no name for a user"):
            make_kit(tmp_path / "kit", KitPlan(users=(name,)))
    assert not list(tmp_path.iterdir())


def test_a_service_is_added_once(kit: SecurityKit) -> None:
    files = add_service(kit, "connect")
    password = parse_properties(files.secrets.read_text())["password"]
    assert add_service(kit, "connect") == files
    assert parse_properties(files.secrets.read_text())["password"] == password
    assert kit.http_admins.read_text().count("connect: ") == 1
    assert "sasl.mechanism=PLAIN" in files.java.read_text()


def test_a_kit_that_was_killed_is_none_and_can_be_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    for files in (1, 6, 15):  # the first of them, in the middle, and all but the move
        _make_and_die(folder, files)
        assert not folder.exists()
    assert make_kit(folder, KitPlan()).exists
    assert [path.name for path in tmp_path.iterdir()] == ["kit"]


def _make_and_die(folder: Path, files: int) -> None:
    child = os.fork()
    if child == 0:
        sync, left = os.fsync, files

        def sync_or_die(fd: Any) -> None:
            nonlocal left
            sync(fd)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = sync_or_die
        make_kit(folder, KitPlan())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
