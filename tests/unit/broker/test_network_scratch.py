"""Brokers of one process receive in memory of their own."""

from __future__ import annotations

import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from confluent_kafka import Consumer, Producer

from headwater.broker.network.scratch import Scratch
from headwater.broker.tls.records import TlsRecords
from headwater.testing import Broker

_ROUNDS = 60
_RECORDS = 200


def test_each_thread_has_its_own() -> None:
    scratch = Scratch()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    here, again = TlsRecords(context), TlsRecords(context)
    with ThreadPoolExecutor(1) as threads:
        elsewhere = threads.submit(TlsRecords, context).result()
        view = threads.submit(lambda: scratch.view).result()

    assert scratch.view is scratch.view
    assert scratch.view.obj is not view.obj
    assert (here._incoming, here._outgoing) == (again._incoming, again._outgoing)
    assert here._incoming is not elsewhere._incoming
    assert here._outgoing is not elsewhere._outgoing


def test_two_brokers_at_once_keep_what_each_was_given() -> None:
    letters = ("a", "b", "c")
    with ExitStack() as stack:
        brokers = [stack.enter_context(Broker()) for _ in letters]
        with ThreadPoolExecutor(len(letters)) as threads:
            addresses = [broker.bootstrap_servers for broker in brokers]
            found = list(threads.map(_written_and_read, addresses, letters))

    assert found == [{letter.encode() * 3_000: _ROUNDS * _RECORDS} for letter in letters]


def _written_and_read(bootstrap_servers: str, letter: str) -> dict[bytes, int]:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 0})
    for _ in range(_ROUNDS):
        for _ in range(_RECORDS):
            producer.produce("letters", letter * 3_000)
        assert producer.flush(60) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["letters"])
    found: dict[bytes, int] = {}
    try:
        while sum(found.values()) < _ROUNDS * _RECORDS:
            record = consumer.poll(60)
            assert record is not None, f"only {found.values()} came"
            assert record.error() is None, record.error()
            value = record.value() or b""
            found[value] = found.get(value, 0) + 1
    finally:
        consumer.close()
    return found
