"""What a listener's security protocol adds: TLS below the frames, SASL before the requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.network.authentication_counts import AuthenticationCounts
from headwater.broker.network.newcomers import Newcomers
from headwater.broker.network.transport import PlainTransport

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable

    from headwater.broker.audit.audit_log import AuditLog
    from headwater.broker.config import BrokerConfig, Endpoint
    from headwater.broker.delegation_tokens.delegation_tokens import DelegationTokens
    from headwater.broker.network.connection import FrameHandler
    from headwater.broker.network.transport import Transport
    from headwater.broker.sasl.scram_credentials import ScramCredentials
    from headwater.broker.tls.listener_tls import ListenerTls

_WITH_TLS = ("SSL", "SASL_SSL")
_WITH_SASL = ("SASL_PLAINTEXT", "SASL_SSL")


class ListenerSecurity:
    """How clients of one listener come in, by its security protocol."""

    def __init__(
        self,
        endpoint: Endpoint,
        config: BrokerConfig,
        loop: asyncio.AbstractEventLoop,
        handle: FrameHandler,
        credentials: Callable[[], ScramCredentials],
        tokens: DelegationTokens,
        audit: AuditLog | None = None,
    ) -> None:
        self.protocol = endpoint.protocol
        self.counts = AuthenticationCounts()
        self.tls: ListenerTls | None = None
        self.newcomers: Newcomers | None = None
        self.open_transport: Callable[[socket.socket], Transport] = PlainTransport
        self.handle = handle
        """Takes the frames of this listener."""
        self.max_frame = config.integer("socket.request.max.bytes")
        """The largest frame of a client that has just connected."""
        must_log_in = endpoint.protocol in _WITH_SASL
        if endpoint.protocol in _WITH_TLS:
            # Only now: a broker without TLS does without OpenSSL's memory, too.
            from headwater.broker.tls.listener_tls import ListenerTls

            self.tls = ListenerTls(
                endpoint.name, config, self.counts, names_principals=not must_log_in
            )
            self.open_transport = self.tls.open_transport
        if must_log_in:
            from headwater.broker.sasl.gate import SaslGate
            from headwater.broker.sasl.listener_sasl import ListenerSasl

            sasl = ListenerSasl(endpoint.name, config, credentials, tokens)
            self.handle = SaslGate(sasl, self.counts, loop, handle, self.max_frame, audit)
            self.max_frame = min(self.max_frame, sasl.max_receive_size)
        if endpoint.protocol != "PLAINTEXT":
            timeout_s = config.integer("headwater.authentication.timeout.ms") / 1000
            self.newcomers = Newcomers(loop, timeout_s, must_log_in=must_log_in)
