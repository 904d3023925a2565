"""The registry as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.basic_auth import BasicAuth
from headwater.http.service_process import run as run_service
from headwater.http.tls import check_files, server_context
from headwater.registry.instance import Instance

if TYPE_CHECKING:
    import ssl

    from headwater.registry.config import RegistryConfig

REALM = "headwater schema registry"


def run(config: RegistryConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""

    def tls() -> ssl.SSLContext | None:
        check_files(config.certificate_file, config.key_file, config.ca_file)
        if config.certificate_file is None or config.key_file is None:
            return None
        return server_context(
            config.certificate_file, config.key_file, config.ca_file, config.client_authentication
        )

    def build(url: str) -> Instance:
        users = config.users_file
        authenticator = None if users is None else BasicAuth.from_file(users, REALM)
        return Instance(config, config.advertised_url or url, authenticator)

    return run_service(build, config.host, config.port, tls=tls)
