"""A listener's TLS: which settings make it, and how new certificates are taken over or refused."""

from __future__ import annotations

import logging
import ssl
from typing import TYPE_CHECKING

import pytest
from tests.certificates import DAY, Authority, Issued, revoked_by

from headwater.broker.config import BrokerConfig
from headwater.broker.network.authentication_counts import AuthenticationCounts
from headwater.broker.tls.context import load
from headwater.broker.tls.handshake_errors import explain
from headwater.broker.tls.listener_tls import ListenerTls
from headwater.broker.tls.settings import TlsSettings
from headwater.config import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

AUTHORITY = Authority()
BROKER = AUTHORITY.issue("CN=broker")


def config_with(**settings: str) -> BrokerConfig:
    given = {
        "listeners": "IN://127.0.0.1:0,OUT://127.0.0.1:0",
        "listener.security.protocol.map": "IN:SSL,OUT:SSL",
        "ssl.keystore.key": BROKER.key,
        "ssl.keystore.certificate.chain": BROKER.certificate,
    }
    return BrokerConfig(given | {k.replace("__", "-"): v for k, v in settings.items()})


def settings_of(more: dict[str, str], listener: str = "OUT") -> TlsSettings:
    return TlsSettings.of(config_with(**more), listener)


def test_each_listener_has_settings_of_its_own() -> None:
    given = {
        "ssl.client.auth": "requested",
        "listener.name.in.ssl.client.auth": "required",
        "listener.name.in.ssl.enabled.protocols": "TLSv1.3",
    }
    inside, outside = (load(settings_of(given, name)).context for name in ("IN", "OUT"))
    assert (inside.verify_mode, outside.verify_mode) == (ssl.CERT_REQUIRED, ssl.CERT_OPTIONAL)
    assert (inside.minimum_version, outside.minimum_version) == (
        ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2,
    )  # fmt: skip


def test_where_clients_log_in_certificates_are_asked_for_by_the_listeners_own_setting() -> None:
    given = {"ssl.client.auth": "required", "listener.name.in.ssl.client.auth": "requested"}
    config = config_with(**given)
    asked = [TlsSettings.of(config, name, with_sasl=True).client_auth for name in ("IN", "OUT")]
    assert asked == ["requested", "none"]


def test_cipher_suites_have_javas_names() -> None:
    suites = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"
    context = load(settings_of({"ssl.cipher.suites": suites})).context
    of_1_2 = {c["name"] for c in context.get_ciphers() if c["protocol"] != "TLSv1.3"}
    assert of_1_2 == {"ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA256"}
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2
    newer = "TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,TLS_CHACHA20_POLY1305_SHA256"
    context = load(settings_of({"ssl.cipher.suites": newer})).context
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
    both = f"{newer},TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
    context = load(settings_of({"ssl.cipher.suites": both})).context
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"ssl.enabled.protocols": "TLSv1.1,TLSv1.2"}, "TLSv1.1 is not served"),
        ({"ssl.keystore.type": "BKS"}, "there are JKS, PKCS12, PEM"),
        ({"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"}, "cannot leave out single"),
        ({"ssl.cipher.suites": "TLS_RSA_WITH_NULL_WHAT"}, "OpenSSL has none"),
        ({"ssl.principal.mapping.rules": "nonsense"}, "is no rule"),
        ({"ssl.keystore.key": AUTHORITY.issue("CN=x").key}, "not that of the certificate"),
        ({"ssl.keystore.key": BROKER.encrypted_key("secret")}, r"needs ssl\.key\.password"),
        (
            {"ssl.keystore.key": BROKER.encrypted_key("secret"), "ssl.key.password": "wrong"},
            "does not open the key",
        ),
        ({"ssl.truststore.location": "/nowhere"}, "cannot be read"),
    ],
)
def test_what_is_wrong_with_the_settings_is_said(given: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as error:
        load(settings_of(given))
    assert "secret" not in str(error.value)
    assert "BEGIN" not in str(error.value)


def test_no_name_of_a_key_is_shown_by_configs_describe() -> None:
    origins = config_with().origins("ssl.keystore.key")
    assert [origin.value for origin in origins] == [None]


class Renewal:
    """A listener whose certificates are in a file."""

    def __init__(self, directory: Path, first: Issued, **more: str) -> None:
        self.path = first.write(directory / "store.pem")
        self.config = BrokerConfig(
            {
                "listeners": "SSL://127.0.0.1:0",
                "ssl.keystore.location": str(self.path),
                "ssl.keystore.type": "PEM",
                **more,
            }
        )
        self.tls = ListenerTls("SSL", self.config, AuthenticationCounts(), names_principals=True)

    def replace(self, issued: Issued) -> None:
        """Put another file in place, as those do who renew certificates."""
        new = issued.write(self.path.with_suffix(".new"))
        new.replace(self.path)

    @property
    def days_left(self) -> int:
        return round((self.tls.expires_at - self.path.stat().st_mtime) / 86_400)


def test_a_new_file_is_taken_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    renewal = Renewal(tmp_path, AUTHORITY.issue("CN=broker", ends=50 * DAY))
    renewal.tls.look_after()
    assert renewal.days_left == 50
    renewal.replace(AUTHORITY.issue("CN=broker", ends=90 * DAY))
    with caplog.at_level(logging.INFO):
        renewal.tls.look_after()
    assert renewal.days_left == 90
    assert "has taken over its certificates: CN=broker, for 89 days" in caplog.text


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (AUTHORITY.issue("CN=broker", ends=-DAY / 2), "has expired"),
        (AUTHORITY.issue("CN=broker", starts=DAY), "not valid yet"),
        (AUTHORITY.issue("CN=other"), "ssl.allow.dn.changes"),
        (AUTHORITY.issue("CN=broker", names=()), "lacks localhost"),
        (BROKER._replace(key=AUTHORITY.issue("CN=x").key), "not that of the certificate"),
    ],
)
def test_what_would_lock_everybody_out_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, new: Issued, reason: str
) -> None:
    renewal = Renewal(tmp_path, AUTHORITY.issue("CN=broker", ends=50 * DAY))
    renewal.replace(new)
    location = {"listener.name.ssl.ssl.keystore.location": str(renewal.path)}
    with pytest.raises(ConfigError, match=reason):
        renewal.config.check_dynamic({}, location)
    for _ in range(3):
        renewal.tls.look_after()
    assert renewal.days_left == 50
    assert caplog.text.count("keeps its old certificates") == 1
    assert reason in caplog.text
    renewal.replace(AUTHORITY.issue("CN=broker", ends=90 * DAY))
    renewal.tls.look_after()
    assert renewal.days_left == 90


def test_names_may_change_where_the_settings_allow_it(tmp_path: Path) -> None:
    allowed = {"ssl.allow.dn.changes": "true", "ssl.allow.san.changes": "true"}
    renewal = Renewal(tmp_path, BROKER, **allowed)
    renewal.replace(AUTHORITY.issue("CN=other", names=(), ends=10 * DAY))
    renewal.tls.look_after()
    assert renewal.days_left == 10


def test_a_setting_that_is_changed_at_run_time_counts(tmp_path: Path) -> None:
    renewal = Renewal(tmp_path, BROKER)
    other = AUTHORITY.issue("CN=broker", ends=77 * DAY).write(tmp_path / "other.pem")
    change = {"listener.name.ssl.ssl.keystore.location": str(other)}
    renewal.config.check_dynamic({}, change)
    renewal.config.set_dynamic({}, change)
    assert renewal.days_left == 77


def test_trust_moves_from_one_authority_to_the_next_in_two_steps(tmp_path: Path) -> None:
    old, new = Authority("old"), Authority("new")
    given = {"ssl.client.auth": "required", "ssl.truststore.certificates": old.certificate}
    renewal = Renewal(tmp_path, BROKER, **given)
    name = "listener.name.ssl.ssl.truststore.certificates"
    with pytest.raises(ConfigError, match="every client would be locked out"):
        renewal.config.check_dynamic({}, {name: new.certificate})
    for trusted in (old.certificate + new.certificate, new.certificate):
        renewal.config.check_dynamic({}, {name: trusted})
        renewal.config.set_dynamic({}, {name: trusted})


def test_a_certificate_about_to_expire_is_warned_of_once_a_day(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    renewal = Renewal(tmp_path, AUTHORITY.issue("CN=broker", ends=10.5 * DAY))
    renewal.tls.look_after()
    assert caplog.text.count("expires in 10 days") == 1
    caplog.clear()
    renewal.tls._warned_at -= 90_000
    renewal.tls.look_after()
    assert caplog.text.count("expires in 10 days") == 1
    caplog.clear()
    expired = tmp_path / "expired"
    expired.mkdir()
    Renewal(expired, AUTHORITY.issue("CN=broker", ends=-DAY / 2))
    assert "has expired: clients refuse it" in caplog.text


def handshake(listener: ListenerTls, client: Issued, folder: Path) -> str:
    """Let a client in with its certificate, or return what the broker's log would say."""
    context = ssl.create_default_context(cadata=AUTHORITY.certificate)
    context.load_cert_chain(client.write(folder / "client.pem"))
    ends = [ssl.MemoryBIO() for _ in range(2)]
    broker = listener._state.context.wrap_bio(ends[0], ends[1], server_side=True)
    other = context.wrap_bio(ends[1], ends[0], server_hostname="localhost")
    for _ in range(3):
        for end in (other, broker):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError as error:
                return explain(error)
    return "in"


def test_revoked_certificates_are_refused_and_lists_taken_over(tmp_path: Path) -> None:
    ann, eve = AUTHORITY.issue("CN=ann"), AUTHORITY.issue("CN=eve")
    lists = tmp_path / "revoked.pem"
    lists.write_text(revoked_by(AUTHORITY))
    config = config_with(
        **{
            "ssl.client.auth": "required",
            "ssl.truststore.certificates": AUTHORITY.certificate,
            "ssl.truststore.type": "PEM",
            "headwater.ssl.crl.location": str(lists),
        }
    )
    listener = ListenerTls("OUT", config, AuthenticationCounts(), names_principals=True)
    assert [handshake(listener, who, tmp_path) for who in (ann, eve)] == ["in", "in"]
    lists.write_text(revoked_by(AUTHORITY, eve))
    listener.look_after()
    assert handshake(listener, ann, tmp_path) == "in"
    assert "it was revoked (headwater.ssl.crl.location)" in handshake(listener, eve, tmp_path)
    # A list of no use is not taken over.
    lists.write_text(revoked_by(AUTHORITY, lasts=-DAY))
    listener.look_after()
    assert "it was revoked" in handshake(listener, eve, tmp_path)
    # Nobody comes in of whom it cannot be told.
    lists.write_text(revoked_by(Authority("another")))
    listener.look_after()
    assert "has no list of the authority" in handshake(listener, ann, tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "No such file"),
        ("nothing", "holds no list of revoked certificates"),
        ("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n", "damaged"),
        (revoked_by(AUTHORITY, lasts=-DAY), "was good until"),
    ],
)
def test_what_is_wrong_with_a_list_of_revoked_certificates(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    path = tmp_path / "revoked.pem"
    if text is not None:
        path.write_text(text)
    given = {"ssl.client.auth": "required", "headwater.ssl.crl.location": str(path)}
    with pytest.raises(ConfigError, match=reason):
        load(settings_of(given))
