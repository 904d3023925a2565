"""Certificates that servers show: for whom, until when, and those that show none."""

from __future__ import annotations

import ssl
import threading
from typing import TYPE_CHECKING

from tests.certificates import certificate_for_loopback

from headwater.clients import ClusterAccess
from headwater.console.model.cluster import Cluster
from headwater.console.model.security.certificates import Certificates
from headwater.console.view.security.certificates_page import shown
from headwater.processes.ports import bound

if TYPE_CHECKING:
    from pathlib import Path
    from socket import socket


def test_certificates_of_services(tmp_path: Path) -> None:
    files = certificate_for_loopback(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    access = ClusterAccess("127.0.0.1:1")
    with bound("127.0.0.1", 0) as listening, bound("127.0.0.1", 0) as deaf:
        listening.listen()
        server = threading.Thread(target=_greet, args=(context, listening))
        server.start()
        address, silent = (f"127.0.0.1:{each.getsockname()[1]}" for each in (listening, deaf))
        services = {
            "connect": f"https://{address}",
            "ksql": f"https://{silent}",
            "monitor": "http://127.0.0.1:9308",
        }
        found = Certificates(Cluster(access, "default"), access, services).all()
        server.join()
    unseen, seen = found
    assert (unseen.who, unseen.address, unseen.days_left) == ("ksql", silent, None)
    assert "refused" in unseen.problem
    assert (seen.who, seen.address, seen.problem) == ("connect", address, "")
    assert seen.days_left is not None
    assert seen.days_left >= 0
    page = shown(found)
    assert "not seen" in page
    assert address in page
    assert "speaks TLS" in shown([])


def _greet(context: ssl.SSLContext, listening: socket) -> None:
    peer, _ = listening.accept()
    with peer, context.wrap_socket(peer, server_side=True) as greeted:
        greeted.recv(1)
