"""Sockets to a broker as librdkafka's settings ask for them: TLS, and SASL inside it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import ssl
import tempfile
from struct import Struct
from typing import TYPE_CHECKING, Any

from headwater.clients.connection import REQUEST_WITHIN_S
from headwater.clients.errors import ClientError
from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey, is_flexible
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Decode = Callable[[memoryview], Any]
    Exchange = Callable[[bytes], bytes]

_CLIENT_ID = b"headwater"
_HEADER = Struct(">hhih")
_SIZE = Struct(">i")
_MOST_BYTES = 64 << 20
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def open_socket(host: str, port: int, properties: Mapping[str, Any]) -> socket.socket:
    """Connect, and prove who we are where the properties say how; raises OSError, ClientError."""
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in _PROTOCOLS:
        raise ClientError(
            f"security.protocol={protocol} is unknown. Use one of {', '.join(_PROTOCOLS)}"
        )
    peer = socket.create_connection((host, port), REQUEST_WITHIN_S)
    try:
        if protocol.endswith("SSL"):
            peer = _tls_context(properties).wrap_socket(peer, server_hostname=host)
        if protocol.startswith("SASL"):
            _authenticate(peer, properties)
    except BaseException:
        peer.close()
        raise
    return peer


def ask(
    peer: socket.socket,
    api_key: ApiKey,
    version: int,
    body: Mapping[str, Any] | bytes,
    decode: Decode | None = None,
) -> Any:
    """Send one request and read its answer; raises OSError and ProtocolError.

    A body of bytes has been encoded before. The answer is an entity, unless `decode` makes
    something else of its bytes.
    """
    flexible = is_flexible(api_key, version)
    head = _HEADER.pack(api_key, version, 1, len(_CLIENT_ID)) + _CLIENT_ID
    if not isinstance(body, bytes):
        body = messages.encode_request(api_key, version, body)
    frame = head + (b"\0" if flexible else b"") + body
    peer.sendall(_SIZE.pack(len(frame)) + frame)
    (size,) = _SIZE.unpack(_read(peer, _SIZE.size))
    if not 0 < size <= _MOST_BYTES:
        host, port = peer.getpeername()[:2]
        raise ClientError(f"{host}:{port} answered with {size} bytes: is it a broker?")
    answer, start = memoryview(_read(peer, size)), 5 if flexible else 4
    if decode is not None:
        return decode(answer[start:])
    return messages.decode_response(api_key, version, answer, start)


def _read(peer: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionError("it hung up; it may not know this request")
        data += part
    return bytes(data)


def _tls_context(properties: Mapping[str, Any]) -> ssl.SSLContext:
    if "ssl.keystore.location" in properties:
        raise ClientError(
            "this command reads keys from PEM files only. Export the key store, and set "
            "ssl.certificate.location and ssl.key.location"
        )
    context = ssl.create_default_context(
        cafile=properties.get("ssl.ca.location"), cadata=properties.get("ssl.ca.pem")
    )
    if properties.get("ssl.endpoint.identification.algorithm", "https") == "none":
        context.check_hostname = False
    if properties.get("enable.ssl.certificate.verification", "true") == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    password = properties.get("ssl.key.password")
    if "ssl.certificate.location" in properties:
        certificate = properties["ssl.certificate.location"]
        context.load_cert_chain(certificate, properties.get("ssl.key.location"), password)
    elif "ssl.certificate.pem" in properties:
        # Python reads a client's key from files alone.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as both:
            both.write(properties["ssl.certificate.pem"] + "\n" + properties["ssl.key.pem"])
            both.flush()
            context.load_cert_chain(both.name, None, password)
    return context


def _authenticate(peer: socket.socket, properties: Mapping[str, Any]) -> None:
    mechanism = properties.get("sasl.mechanism", properties.get("sasl.mechanisms", "")).upper()
    tokens = properties.get("oauth_cb") if mechanism == "OAUTHBEARER" else None
    if mechanism not in ("PLAIN", *_SCRAM_HASHES) and tokens is None:
        raise ClientError(
            f"this command cannot use sasl.mechanism={mechanism or '(none)'}. "
            f"It knows PLAIN, {' and '.join(sorted(_SCRAM_HASHES))}"
        )
    answer = ask(peer, ApiKey.SASL_HANDSHAKE, 1, {"mechanism": mechanism})
    if answer.error_code != ErrorCode.NONE:
        offered = ", ".join(answer.mechanisms) or "none"
        raise ClientError(f"the broker refused sasl.mechanism={mechanism}; it offers {offered}")

    def exchange(token: bytes) -> bytes:
        answer = ask(peer, ApiKey.SASL_AUTHENTICATE, 1, {"auth_bytes": token})
        if answer.error_code != ErrorCode.NONE:
            raise ClientError(f"the broker refused the credentials: {answer.error_message}")
        return bytes(answer.auth_bytes)

    user, password = (properties.get(f"sasl.{name}", "") for name in ("username", "password"))
    if tokens is not None:
        token, _ = tokens("")
        if refusal := exchange(f"n,,\x01auth=Bearer {token}\x01\x01".encode()):
            raise ClientError(f"the broker refused the token: {refusal.decode(errors='replace')}")
    elif mechanism == "PLAIN":
        exchange(f"\0{user}\0{password}".encode())
    else:
        _scram(exchange, _SCRAM_HASHES[mechanism], user, password)


_SCRAM_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


def _scram(exchange: Exchange, hash_name: str, user: str, password: str) -> None:
    """RFC 5802, without channel binding, as Kafka speaks it."""
    nonce = secrets.token_hex(16)
    first = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    server_first = exchange(f"n,,{first}".encode()).decode()
    fields = dict(part.split("=", 1) for part in server_first.split(","))
    if not fields["r"].startswith(nonce):
        raise ClientError("the broker's SCRAM answer belongs to another request")
    salt, iterations = base64.b64decode(fields["s"]), int(fields["i"])
    salted = hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)
    final = f"c=biws,r={fields['r']}"
    signed = f"{first},{server_first},{final}".encode()

    def sign(key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, hash_name)

    client_key = sign(salted, b"Client Key")
    signature = sign(hashlib.new(hash_name, client_key).digest(), signed)
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    server_final = exchange(f"{final},p={base64.b64encode(proof).decode()}".encode())
    expected = base64.b64encode(sign(sign(salted, b"Server Key"), signed))
    if server_final != b"v=" + expected:
        raise ClientError("the broker does not know the password either: it may be an impostor")
