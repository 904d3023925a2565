"""A session with an MQTT broker, for as long as the connection holds."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.connect.connectors.mqtt.server import Server, server_of
from headwater.connect.connectors.tls_context import tls_context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

    from paho.mqtt.client import Client, MQTTMessage

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext

_NOTHING = "headwater/connect/nothing"
_SETTLED_WITHIN_S = 5.0
_REFUSED_FOR_GOOD = (
    "Bad user name or password",
    "Not authorized",
    "Client identifier not valid",
    "Unsupported protocol version",
)


class Session:
    """A connection that is not made anew when it breaks: then the connector is opened anew.

    What was received by then and not acknowledged comes again from the MQTT broker.
    """

    def __init__(
        self,
        config: Values,
        context: ConnectorContext,
        *,
        keeps_session: bool,
        most_on_the_way: int = 20,
        on_message: Callable[[MQTTMessage], None] = lambda _message: None,
    ) -> None:
        """Connect; raises RetriableError, and ConnectorError where waiting does not help."""
        self._timeout_s = float(config.integer("mqtt.connect.timeout.seconds"))
        self._config = config
        self._answered = threading.Event()
        self._answer = ""
        self._granted: Sequence[Any] = ()
        self._subscribed = threading.Event()
        self._settled = threading.Event()
        self._lost: str | None = None
        self.client = self._client(context, keeps_session=keeps_session)
        self.client.max_inflight_messages_set(most_on_the_way)
        self.client.on_message = lambda _client, _data, message: on_message(message)
        self._connect()

    def check(self) -> None:
        """Raise RetriableError if the connection is lost."""
        if self._lost is not None:
            raise RetriableError(f"the connection to the MQTT broker is lost: {self._lost}")

    def subscribe(self, topics: Sequence[str], qos: int) -> None:
        """Subscribe, and wait until the MQTT broker has agreed."""
        self.client.subscribe([(topic, qos) for topic in topics])
        if not self._subscribed.wait(self._timeout_s):
            self.check()
            raise RetriableError("the MQTT broker does not answer to the subscription")
        refused = [
            topic for topic, code in zip(topics, self._granted, strict=True) if code.is_failure
        ]
        if refused:
            raise ConnectorError(
                f"the MQTT broker refuses the subscription to {', '.join(refused)}: look whether "
                "mqtt.username may read it"
            )

    def close(self) -> None:
        """Say good-bye, when the MQTT broker has read what was sent before."""
        if self._lost is None and self._answered.is_set():
            # It answers in turn: so it has taken all acknowledgements, and not only their bytes.
            self.client.unsubscribe(_NOTHING)
            self._settled.wait(_SETTLED_WITHIN_S)
        self.client.disconnect()
        self.client.loop_stop()

    def _client(self, context: ConnectorContext, *, keeps_session: bool) -> Client:
        try:
            from paho.mqtt import client as mqtt
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise ConnectorError(
                "MQTT needs paho-mqtt: install it with pip install 'headwater[connect]'"
            ) from None
        name = self._config.text("mqtt.client.id") or f"headwater-connect-{context.name}"
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            name,
            clean_session=not keeps_session,
            protocol=mqtt.MQTTv311,
            reconnect_on_failure=False,
            manual_ack=True,
        )
        client.connect_timeout = self._timeout_s
        user = self._config.text("mqtt.username")
        if user:
            client.username_pw_set(user, self._config.text("mqtt.password"))
        client.on_connect = self._connected
        client.on_disconnect = self._disconnected
        client.on_subscribe = self._agreed
        client.on_unsubscribe = lambda *_: self._settled.set()
        return client

    def _connect(self) -> None:
        servers = [server_of(uri) for uri in self._config.words("mqtt.server.uri")]
        if any(server.is_encrypted for server in servers):
            self.client.tls_set_context(self._tls())
        self._reach(servers)
        self.client.loop_start()
        if not self._answered.wait(self._timeout_s):
            self.close()
            raise RetriableError("the MQTT broker does not answer")
        if self._answer:
            self.client.loop_stop()
            kind = ConnectorError if self._answer in _REFUSED_FOR_GOOD else RetriableError
            raise kind(f"the MQTT broker refuses the connection: {self._answer}")

    def _reach(self, servers: Sequence[Server]) -> None:
        keep_alive = self._config.integer("mqtt.keepalive.interval.seconds")
        failures: list[str] = []
        for server in servers:
            try:
                self.client.connect(server.host, server.port, keep_alive)
            except OSError as failure:
                failures.append(f"{server.host}:{server.port} does not answer: {failure}")
            else:
                return
        raise RetriableError("; ".join(failures))

    def _tls(self) -> ssl.SSLContext:
        return tls_context(
            self._config,
            "mqtt.ssl.trust.store.path",
            "mqtt.ssl.key.store.path",
            "mqtt.ssl.key.password",
        )

    def _connected(
        self, _client: Any, _data: Any, _flags: Any, code: Any, _properties: Any
    ) -> None:
        self._answer = str(code) if code.is_failure else ""
        self._answered.set()

    def _disconnected(
        self, _client: Any, _data: Any, _flags: Any, code: Any, _properties: Any
    ) -> None:
        self._lost = str(code)
        self._settled.set()

    def _agreed(self, _client: Any, _data: Any, _mid: int, codes: Any, _properties: Any) -> None:
        self._granted = codes
        self._subscribed.set()
