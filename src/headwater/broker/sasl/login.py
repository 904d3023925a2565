"""One client's way in: greeting, choice of a mechanism, the mechanism's messages, and again later.

    ApiVersions?  SaslHandshake  SaslAuthenticate...   and from then on every other request

A client that shook hands with version 0 sends the mechanism's messages as they are, without
headers. Anything else that comes before its time closes the connection, as Kafka does; where a
handshake has been, it is answered before.
"""

from __future__ import annotations

from enum import Enum, auto
from time import time
from typing import TYPE_CHECKING, Any

from headwater.broker.audit.login_event import LoginEvent
from headwater.broker.sasl.illegal_state import illegal_state
from headwater.broker.sasl.mechanism import LoginRefused
from headwater.broker.session import USER, Authentication, Principal
from headwater.protocol import messages
from headwater.protocol.api_keys import SERVED, ApiKey, is_served
from headwater.protocol.errors import ErrorCode
from headwater.protocol.frames import parse_request_header, response_header
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.audit.audit_log import AuditLog
    from headwater.broker.network.authentication_counts import AuthenticationCounts
    from headwater.broker.network.connection import Connection
    from headwater.broker.requests.reply import Reply
    from headwater.broker.sasl.listener_sasl import ListenerSasl
    from headwater.broker.sasl.mechanism import Exchange, Step
    from headwater.protocol.frames import RequestHeader


class State(Enum):
    """What may come next."""

    GREETING = auto()
    """ApiVersions or SaslHandshake."""
    HANDSHAKE = auto()
    MESSAGES = auto()
    """SaslAuthenticate."""
    BARE_MESSAGES = auto()
    DONE = auto()
    FAILED = auto()


class Login:
    """The login of one connection."""

    def __init__(
        self,
        connection: Connection,
        sasl: ListenerSasl,
        counts: AuthenticationCounts,
        loop: asyncio.AbstractEventLoop,
        audit: AuditLog | None = None,
    ) -> None:
        self.state = State.GREETING
        self._connection = connection
        self._sasl = sasl
        self._counts = counts
        self._loop = loop
        self._audit = audit
        self._mechanism = ""
        self._exchange: Exchange | None = None

    @property
    def takes_bare_messages(self) -> bool:
        """Whether a frame is nothing but a message of the mechanism's, which may be empty."""
        return self.state is State.BARE_MESSAGES

    def take(self, view: memoryview, reply: Reply) -> bool:
        """Take a frame; False if it is an ApiVersions, which is answered as always."""
        try:
            return self._take(view, reply)
        except ProtocolError as error:
            self._give_up(
                f"it has not authenticated, and what it sent makes no sense: {error}; it may not"
                " be set up for SASL (security.protocol)"
            )
            return True

    def begin_again(self) -> None:
        """Expect a handshake of a client that has logged in before."""
        self.state = State.HANDSHAKE

    def _take(self, view: memoryview, reply: Reply) -> bool:
        if self.state is State.FAILED:
            return True
        if self.state is State.BARE_MESSAGES:
            self._take_message(None, bytes(view), reply)
            return True
        header = parse_request_header(view)
        if header.api_key is ApiKey.API_VERSIONS and self.state is State.GREETING:
            if header.api_version in SERVED[ApiKey.API_VERSIONS]:
                self.state = State.HANDSHAKE
            return False
        expected = (
            ApiKey.SASL_AUTHENTICATE if self.state is State.MESSAGES else ApiKey.SASL_HANDSHAKE
        )
        if header.api_key is not expected or not is_served(expected, header.api_version):
            self._take_untimely(header, view, reply)
            return True
        body = messages.decode_request(header.api_key, header.api_version, view, header.body)
        if expected is ApiKey.SASL_HANDSHAKE:
            self._take_handshake(header, body.mechanism, reply)
        else:
            self._take_message(header, bytes(body.auth_bytes), reply)
        return True

    def _take_untimely(self, header: RequestHeader, view: memoryview, reply: Reply) -> None:
        api_key, version = header.api_key, header.api_version
        reason = f"it sent {api_key.name} v{version} before it had authenticated"
        answer = None
        if (
            self.state is State.MESSAGES
            and api_key is not ApiKey.SASL_AUTHENTICATE
            and is_served(api_key, version)
        ):
            answer = illegal_state(header, view)
        if answer is None:
            self._give_up(reason)
        else:
            self._refuse(header, answer, reply, reason)

    def _take_handshake(self, header: RequestHeader, mechanism: str, reply: Reply) -> None:
        enabled = self._sasl.mechanisms
        if mechanism not in enabled:
            answer = {"error_code": ErrorCode.UNSUPPORTED_SASL_MECHANISM, "mechanisms": enabled}
            self._refuse(
                header, answer, reply,
                f"it wants the SASL mechanism {mechanism[:40]!r}, and there are"
                f" {', '.join(enabled)} (sasl.enabled.mechanisms)",
            )  # fmt: skip
            return
        self._mechanism = mechanism
        self._exchange = self._sasl.begin(mechanism)
        self.state = State.MESSAGES if header.api_version else State.BARE_MESSAGES
        answer = {"error_code": ErrorCode.NONE, "mechanisms": enabled}
        reply.send(*_encoded(header, answer))

    def _take_message(self, header: RequestHeader | None, message: bytes, reply: Reply) -> None:
        assert self._exchange is not None
        try:
            step = self._exchange.take(message)
            lifetime_ms = 0 if step.user is None else self._admit(step.user, step)
        except LoginRefused as refusal:
            answer = {
                "error_code": ErrorCode.SASL_AUTHENTICATION_FAILED,
                "error_message": str(refusal),
            }
            reason = f"its login by {self._mechanism} failed: {refusal.reason}"
            self._refuse(header, answer, reply, reason)
            return
        if header is None:
            reply.send(b"", step.answer)
        else:
            answer = {
                "error_code": ErrorCode.NONE,
                "auth_bytes": step.answer,
                "session_lifetime_ms": lifetime_ms,
            }
            reply.send(*_encoded(header, answer))

    def _admit(self, user: str, step: Step) -> int:
        """Make the client who it has proved to be, and return for how many milliseconds."""
        connection = self._connection
        before = connection.session.authentication
        principal = Principal(USER, user)
        if before.mechanism is not None:
            if before.principal != principal:
                raise LoginRefused(
                    "Cannot change principals during re-authentication from"
                    f" {before.principal.type}.{before.principal.name}: {USER}.{user}"
                )
            if before.mechanism != self._mechanism:
                raise LoginRefused(
                    f"SASL mechanism '{self._mechanism}' requested by client is not supported for"
                    f" re-authentication of mechanism '{before.mechanism}'"
                )
            self._counts.reauthenticated += 1
        else:
            self._counts.succeeded += 1
        expires_at = step.expires_at
        now, most_ms = time(), self._sasl.max_session_ms(self._mechanism)
        if most_ms > 0:
            expires_at = min(now + most_ms / 1000, expires_at or float("inf"))
        connection.session = connection.session.authenticated(
            Authentication(
                principal, self._mechanism, expires_at, principal if step.by_token else None
            )
        )
        self._exchange = None
        self.state = State.DONE
        self._note(None)
        return 0 if expires_at is None else max(0, round((expires_at - now) * 1000))

    def _refuse(
        self, header: RequestHeader | None, answer: dict[str, Any], reply: Reply, reason: str
    ) -> None:
        """Answer and hang up, some time later: who guesses passwords is to be slow."""
        self.state = State.FAILED
        self._exchange = None
        self._counts.failed += 1
        self._note(reason)

        def finish() -> None:
            if header is not None:
                reply.send(*_encoded(header, answer))
            self._connection.close(reason, kind=("login", self._mechanism))

        delay_s = self._sasl.failure_delay_s
        if delay_s > 0:
            self._connection.mute(delay_s)
            self._loop.call_later(delay_s, finish)
        else:
            finish()

    def _give_up(self, reason: str) -> None:
        self.state = State.FAILED
        self._counts.failed += 1
        self._note(reason)
        self._connection.close(reason, kind="before login")

    def _note(self, cause: str | None) -> None:
        if self._audit is not None:
            session = self._connection.session
            self._audit.note_login(LoginEvent.of(session, self._mechanism or None, cause))


def _encoded(header: RequestHeader, answer: dict[str, Any]) -> tuple[bytes, bytes]:
    api_key, version, correlation_id = header[:3]
    return (
        response_header(api_key, version, correlation_id),
        messages.encode_response(api_key, version, answer),
    )
