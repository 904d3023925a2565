"""IPv6 addresses of hosts, which can be spelled in many ways."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address


@lru_cache(maxsize=10_000)
def spelled_alike(host: str) -> str:
    """Return the shortest spelling of an IPv6 address, or the IPv4 address within; others as is.

    Java, and so Kafka's tools, writes 0:0:0:0:0:0:0:1 where others write ::1.

    >>> spelled_alike("0:0:0:0:0:0:0:1"), spelled_alike("::FFFF:10.0.0.1"), spelled_alike("*")
    ('::1', '10.0.0.1', '*')
    """
    if ":" not in host or "%" in host:
        return host
    try:
        address = IPv6Address(host)
    except AddressValueError:
        return host
    return str(address.ipv4_mapped or address.compressed)
