"""Why a handshake failed, in an operator's words."""

from __future__ import annotations

import ssl


def explain(error: ssl.SSLError) -> str:
    """Say what the client did, what this means, and what could be done."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _ABOUT_REVOCATION:
            return f"its certificate was refused: {_ABOUT_REVOCATION[error.verify_code]}"
        return (
            f"its certificate was refused: {error.verify_message}; the trust store must hold the"
            " authority that has signed it (ssl.truststore.location)"
        )
    if isinstance(error, ssl.SSLEOFError):
        return "it hung up in the middle of it"
    reason = error.reason or str(error)
    if "ALERT" in reason:
        alert = reason.partition("ALERT_")[2].replace("_", " ").lower()
        return (
            f"it refused: {alert}; it may not trust the broker's certificate"
            " (ssl.truststore.location of the client)"
        )
    return _REASONS.get(reason, reason.replace("_", " ").lower())


_ABOUT_REVOCATION = {
    23: "it was revoked (headwater.ssl.crl.location)",
    3: "headwater.ssl.crl.location has no list of the authority that has signed it",
    12: "the list of headwater.ssl.crl.location is good no more; replace it, no restart is needed",
}
"""By OpenSSL's numbers of what is wrong with a certificate."""
_REASONS = {
    "UNSUPPORTED_PROTOCOL": (
        "it offers only versions of TLS that are older than those served here"
        " (ssl.enabled.protocols)"
    ),
    "VERSION_TOO_LOW": (
        "it offers only versions of TLS that are older than those served here"
        " (ssl.enabled.protocols)"
    ),
    "NO_SHARED_CIPHER": "it has none of the cipher suites that are served (ssl.cipher.suites)",
    "NO_SHARED_SIGNATURE_ALGORITHMS": "it knows none of the ways in which the broker could sign",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": (
        "it showed no certificate, and must (ssl.client.auth=required); give it one"
        " (ssl.keystore.location of the client)"
    ),
    "WRONG_VERSION_NUMBER": "what it sent is no TLS",
}
