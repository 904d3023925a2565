"""Where a service listens: a socket, bound before anything else, and its address as a URL."""

from __future__ import annotations

import errno
import os
import socket

from headwater.http.errors import StartError


class ListenError(StartError):
    """The address cannot be listened on; the message says which, and what to do."""


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket; port 0 takes a free one. Raises ListenError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol: asyncio sends at once, without Nagle's delay, only where it knows that.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as failure:
        listening.close()
        raise listen_error(host, port, failure) from None
    return listening


def listen_error(host: str, port: int, failure: OSError) -> ListenError:
    """Return what an operating system's refusal means."""
    return ListenError(_explain(host, port, failure))


def url_of(listening: socket.socket, scheme: str, host: str) -> str:
    """Return how others reach a socket that listens on `host`."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    port = listening.getsockname()[1]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _explain(host: str, port: int, failure: OSError) -> str:
    place = f"{f'[{host}]' if ':' in host else host}:{port}"
    if isinstance(failure, socket.gaierror):
        return f"{host or 'the host'} is no address of this machine ({failure.strerror})"
    if failure.errno == errno.EADDRINUSE:
        return f"port {port} is in use: another process listens on {place}. Choose another port"
    if failure.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine"
    if failure.errno == errno.EACCES:
        return f"port {port} may not be listened on: ports below 1024 need a privilege"
    return f"{place} cannot be listened on: {os.strerror(failure.errno or 0)}"
