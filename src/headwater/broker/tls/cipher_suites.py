"""Cipher suites: the names that Java and the standards have for them, and OpenSSL's."""

from __future__ import annotations

import re
import ssl

from headwater.config import ConfigError

_OF_TLS_1_3 = frozenset(
    ("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256")
)
_SETTING = "ssl.cipher.suites"


def restrict(context: ssl.SSLContext, suites: tuple[str, ...]) -> None:
    """Leave a context these suites only; raises ConfigError for one that there is not."""
    newer = [suite for suite in suites if suite in _OF_TLS_1_3]
    older = [suite for suite in suites if suite not in _OF_TLS_1_3]
    given = ",".join(suites)
    if newer and set(newer) != _OF_TLS_1_3:
        raise ConfigError(
            _SETTING,
            given,
            "Python cannot leave out single cipher suites of TLS 1.3; name all of"
            f" {', '.join(sorted(_OF_TLS_1_3))}, or none of them, which leaves TLS 1.2",
        )
    if older:
        try:
            context.set_ciphers(":".join(map(_openssl_name, older)))
        except ssl.SSLError:
            raise ConfigError(_SETTING, given, "OpenSSL has none of these") from None
        offered = {str(cipher["name"]) for cipher in context.get_ciphers()}
        for suite in older:
            if _openssl_name(suite) not in offered:
                raise ConfigError(_SETTING, given, f"OpenSSL has no {suite}, or forbids it")
    if not newer:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if not older:
        context.minimum_version = ssl.TLSVersion.TLSv1_3


def _openssl_name(suite: str) -> str:
    """Translate one name.

    >>> _openssl_name("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
    'ECDHE-RSA-AES128-GCM-SHA256'
    """
    if not suite.startswith(("TLS_", "SSL_")):
        return suite
    exchange, _, cipher = suite[4:].partition("_WITH_")
    cipher = re.sub(r"AES_(\d+)", r"AES\1", cipher)
    cipher = cipher.replace("_CBC", "").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    parts = [] if exchange == "RSA" else [exchange]
    return "-".join([*parts, cipher]).replace("_", "-")
