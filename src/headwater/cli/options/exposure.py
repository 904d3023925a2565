"""Nobody opens a door to the network without noticing: `--insecure`, and what happens without."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.broker.config import BrokerConfig
    from headwater.broker.config.listeners import Endpoint
    from headwater.http.listener_settings import ListenerConfig

VARIABLE = "HEADWATER_INSECURE"

insecure_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--insecure",
    is_flag=True,
    default=None,
    envvar=VARIABLE,
    show_envvar=True,
    help="Listen beyond this machine although nobody is asked who they are: for closed networks"
    " and containers.",
)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there; names are taken for others'.

    >>> is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("")
    (True, True, False, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_http_exposure(config: ListenerConfig, *, is_insecure: bool) -> None:
    """Refuse an HTTP service that anybody on the network could use."""
    from headwater.http.tls import ClientAuthentication

    asks = (config.has_users or config.passes_credentials_on) or (
        config.certificate_file is not None
        and config.client_authentication is ClientAuthentication.REQUIRED
    )
    if not (is_insecure or asks or is_loopback(config.host)):
        refuse(
            f"on {config.host}",
            "Give it users with --users (authentication.users.file) or tokens with "
            "oauthbearer.jwks.endpoint.url, or require certificates with "
            "ssl.client.authentication=REQUIRED",
        )


def check_broker_exposure(config: BrokerConfig, *, is_insecure: bool) -> None:
    """Refuse a broker with a listener that anybody on the network could use."""
    for endpoint in config.listeners:
        if is_insecure or is_loopback(endpoint.host) or _asks(config, endpoint):
            continue
        refuse(
            f"at {endpoint}",
            "Use the protocol SASL_SSL, or SSL with ssl.client.auth=required; `headwater security "
            "init DIR` makes all that they need",
        )


def refuse(where: str, cure: str) -> None:
    """Raise the error that says why nothing is started."""
    raise click.UsageError(
        f"It would listen {where}, beyond this machine, and let everybody in who gets there, "
        f"without asking who they are. {cure}. Where everybody there may do everything, say so "
        f"with --insecure, or {VARIABLE}=true in the environment."
    )


def _asks(config: BrokerConfig, endpoint: Endpoint) -> bool:
    if endpoint.protocol.startswith("SASL_"):
        return True
    return (
        endpoint.protocol == "SSL"
        and config.of_listener(endpoint.name).text("ssl.client.auth") == "required"
    )
