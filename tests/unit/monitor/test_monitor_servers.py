"""Disks that fill, certificates that expire, and what rules say of them."""

from __future__ import annotations

import ssl
import threading
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from tests.certificates import certificate_for_loopback

from headwater.metrics.cluster_state import ClusterState, LogDirState
from headwater.monitor.alerts.conditions import CertificateExpires, DiskFull
from headwater.monitor.certificates import LOOK_EVERY_S, CertificateWatch, expiry_of
from headwater.monitor.cluster_monitor import Observation
from headwater.monitor.disk_space import DiskSpace
from headwater.processes.ports import bound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.monitor.alerts.conditions.condition import Condition
    from headwater.monitor.disk_space import Disk

GB = 1 << 30
DAY_S = 86_400.0


def disks_after(*left_gb: float, every_s: float = 600) -> Sequence[Disk]:
    """What is known of a disk of 100 GB that had so much left, look after look."""
    space = DiskSpace()
    disks: Sequence[Disk] = ()
    for number, left in enumerate(left_gb):
        place = LogDirState(1, "/data", 100 * GB, round(left * GB))
        disks = space.take(ClusterState([], [], [], [place]), number * every_s)
    return disks


def messages(condition: Condition, **seen: object) -> list[str]:
    observation = Observation(0, 0, ClusterState([], [], []), {}, {}, {}, {})._replace(**seen)  # type: ignore[arg-type]
    return [finding.message for finding in condition.findings(observation)]


def test_a_disk_that_fills_is_told_in_time() -> None:
    disks = disks_after(40, 39, 38, 37)  # 6 GB an hour
    ((_, full_in_s),) = disks
    assert full_in_s == pytest.approx(37 / 6 * 3600)
    (told,) = messages(DiskFull(hours=7), disks=disks)
    assert told.startswith("the disk of /data on broker 1 is 63 % full, and in 6.2 hours all of it")
    assert messages(DiskFull(hours=6), disks=disks) == []


def test_a_disk_that_does_not_fill_is_told_when_it_is_nearly_full() -> None:
    (told,) = messages(DiskFull(), disks=disks_after(3, 3, 4))
    assert told == "the disk of /data on broker 1 is 96 % full"
    assert messages(DiskFull(), disks=disks_after(30, 30, 31)) == []


def test_nothing_is_foretold_from_a_few_minutes() -> None:
    ((_, full_in_s),) = disks_after(40, 20, every_s=60)
    assert full_in_s is None


def test_what_was_long_ago_does_not_count() -> None:
    ((_, full_in_s),) = disks_after(90, *[50] * 40)
    assert full_in_s is None


def test_a_certificate_is_told_before_it_expires() -> None:
    seen = {"broker:9094": 10 * DAY_S, "other:8081": 90 * DAY_S, "late:443": -DAY_S}
    assert messages(CertificateExpires(days=14), certificates=seen) == [
        "the certificate of broker:9094 expires in 10.0 days",
        "the certificate of late:443 has expired",
    ]
    assert messages(CertificateExpires(address="other:.*"), certificates=seen) == []


def test_a_server_is_asked_for_its_certificate(tmp_path: Path) -> None:
    files = certificate_for_loopback(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    with bound("127.0.0.1", 0) as listening:
        listening.listen()
        server = threading.Thread(target=_greet, args=(context, listening))
        server.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        watch = CertificateWatch([address])
        seen = watch.look(0)
        server.join()
    own = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    assert seen == {address: own.not_valid_after_utc.timestamp()}
    # It is gone: what was seen stays, and it is asked again when it is time.
    assert watch.look(1) == watch.look(LOOK_EVERY_S) == seen
    with pytest.raises(OSError, match="refused"):
        expiry_of(address)


def _greet(context: ssl.SSLContext, listening: object) -> None:
    peer, _ = listening.accept()  # type: ignore[attr-defined]
    with peer, context.wrap_socket(peer, server_side=True) as greeted:
        greeted.recv(1)
