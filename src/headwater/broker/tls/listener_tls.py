"""TLS of one listener, and how it takes new certificates over while it serves."""

from __future__ import annotations

import logging
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from headwater.broker.tls.context import TlsState, load
from headwater.broker.tls.settings import TlsSettings
from headwater.broker.tls.transport import TlsTransport
from headwater.config import ConfigError

if TYPE_CHECKING:
    import socket

    from headwater.broker.config import BrokerConfig
    from headwater.broker.network.authentication_counts import AuthenticationCounts

logger = logging.getLogger("headwater.broker")

WARN_BEFORE_S = 30 * 86_400
"""How long before it expires a certificate is warned of."""
_WARN_EVERY_S = 86_400


class ListenerTls:
    """Makes the transports of a listener. What is open goes on with the certificates it began with.

    `names_principals` is for listeners where a client's certificate is its identity, and False
    where SASL asks for one.
    """

    def __init__(
        self,
        listener: str,
        config: BrokerConfig,
        counts: AuthenticationCounts,
        *,
        names_principals: bool,
    ) -> None:
        self.listener = listener
        self._config = config
        self._counts = counts
        self._names_principals = names_principals
        self._state = load(self._settings_of(config))
        self._files = _fingerprints(self._state.settings)
        self._warned_at = 0.0
        self._warn_of_expiry(time())
        config.on_trial(self.check)
        config.on_change(self.reload)

    @property
    def expires_at(self) -> float:
        """When the broker's certificate, or one that it depends on, expires (`time.time`)."""
        return self._state.certificate.expires_at

    def open_transport(self, sock: socket.socket) -> TlsTransport:
        """Return the transport of a client that has connected."""
        state = self._state
        rules = state.rules if self._names_principals else None
        return TlsTransport(sock, state.context, rules, self._counts)

    def check(self, trial: BrokerConfig) -> None:
        """Raise ConfigError if a change of settings is one that must not be made."""
        settings = self._settings_of(trial)
        if settings != self._state.settings or _fingerprints(settings) != self._files:
            _refuse_lock_out(self.listener, self._state, load(settings))

    def reload(self) -> None:
        """Take over what the settings say now, and what is in the files that they name."""
        settings = self._settings_of(self._config)
        files = _fingerprints(settings)
        if settings == self._state.settings and files == self._files:
            return
        # Noted first: what is refused is tried again when it has changed again.
        self._files = files
        try:
            state = load(settings)
            _refuse_lock_out(self.listener, self._state, state)
        except ConfigError as error:
            logger.error("listener %s keeps its old certificates: %s", self.listener, error)
            return
        self._state = state
        self._warned_at = 0.0
        logger.info(
            "listener %s has taken over its certificates: %s", self.listener, _described(state)
        )
        self._warn_of_expiry(time())

    def look_after(self) -> None:
        """Take over files that have changed, and warn of a certificate that is about to expire."""
        self.reload()
        self._warn_of_expiry(time())

    def _settings_of(self, config: BrokerConfig) -> TlsSettings:
        return TlsSettings.of(config, self.listener, with_sasl=not self._names_principals)

    def _warn_of_expiry(self, now: float) -> None:
        left_s = self.expires_at - now
        if left_s > WARN_BEFORE_S or now < self._warned_at + _WARN_EVERY_S:
            return
        self._warned_at = now
        if left_s <= 0:
            logger.error(
                "the certificate of listener %s has expired: clients refuse it; replace it, no"
                " restart is needed", self.listener,
            )  # fmt: skip
        else:
            logger.warning(
                "the certificate of listener %s expires in %d days; replace it, no restart is"
                " needed", self.listener, left_s // 86_400,
            )  # fmt: skip


def _described(state: TlsState) -> str:
    days = (state.certificate.expires_at - time()) // 86_400
    return f"{state.certificate.subject}, for {days:.0f} days"


def _fingerprints(settings: TlsSettings) -> tuple[tuple[int, int, int] | None, ...]:
    """Tell files that were changed or replaced from those that were not."""
    return tuple(_fingerprint(Path(path).expanduser()) for path in settings.files)


def _fingerprint(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _refuse_lock_out(listener: str, before: TlsState, after: TlsState) -> None:
    """Raise ConfigError if those who can connect now could not any more."""
    settings, store = after.settings, after.settings.key_store
    old, new = before.certificate, after.certificate
    now = time()
    if now > new.expires_at:
        raise ConfigError(store.setting, store.location, "the certificate has expired")
    if now < new.valid_from:
        raise ConfigError(store.setting, store.location, "the certificate is not valid yet")
    if new.subject != old.subject and not settings.may_change_name:
        raise ConfigError(
            store.setting,
            store.location,
            f"the certificate is for {new.subject}, and that of listener {listener} was for"
            f" {old.subject}; if that is right, set ssl.allow.dn.changes=true",
        )
    lost = old.names - new.names
    if lost and not settings.may_lose_names:
        raise ConfigError(
            store.setting,
            store.location,
            f"the certificate lacks {', '.join(sorted(lost))}, by which clients may know listener"
            f" {listener}; if that is right, set ssl.allow.san.changes=true",
        )
    was_required = before.settings.client_auth == settings.client_auth == "required"
    if was_required and before.trusted and before.trusted.isdisjoint(after.trusted):
        raise ConfigError(
            settings.trust_store.setting,
            settings.trust_store.location,
            "it has no authority that was trusted so far, so that every client would be locked"
            " out; trust the new ones beside the old ones first, and take these away later",
        )
