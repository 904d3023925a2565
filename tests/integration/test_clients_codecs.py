"""Every codec, written by each client and read by each: what arrives is what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.clients import CLIENTS, PROGRAMS, Read
from tests.integration.record_batches import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.broker_process import BrokerProcess

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
HEADERS = (("trace", b"abc"), ("source", b"tests"))
MESSAGES = [
    Message(b"a value", key=b"a key", headers=HEADERS),
    Message("žluťoučký kůň 🐎".encode(), key="ключ".encode(), headers=HEADERS),
    *(Message(b"%d" % n * 50, key=b"%d" % (n % 7), headers=HEADERS) for n in range(200)),
    Message(b"", key=b"empty value"),
    Message(b"no key", key=None),
    Message(None, key=b"no value"),
]
ANY_CLIENT = [
    pytest.param(name, marks=[pytest.mark.needs(*PROGRAMS[name])] if name in PROGRAMS else [])
    for name in CLIENTS
]


@pytest.fixture(scope="module")
def written(broker: BrokerProcess) -> Callable[[str, str], str]:
    """A topic with the messages in it, as one client wrote them with one codec."""
    done: set[str] = set()

    def write(writer: str, codec: str) -> str:
        topic = f"by-{writer}-{codec}"
        if topic not in done:
            CLIENTS[writer].write(broker.bootstrap_servers, topic, MESSAGES, codec=codec)
            done.add(topic)
        return topic

    return write


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", ANY_CLIENT)
@pytest.mark.parametrize("reader", ANY_CLIENT)
def test_written_by_one_and_read_by_the_other(
    broker: BrokerProcess,
    written: Callable[[str, str], str],
    writer: str,
    reader: str,
    codec: str,
) -> None:
    topic = written(writer, codec)

    found = CLIENTS[reader].read(broker.bootstrap_servers, topic, len(MESSAGES))

    assert as_sent_by(writer, found) == list(enumerate(MESSAGES))


def as_sent_by(writer: str, found: Read) -> Read:
    """kcat cannot choose timestamps: there the sent one stands in."""
    if writer != "kcat":
        return found
    return [
        (offset, message._replace(timestamp=MESSAGES[0].timestamp)) for offset, message in found
    ]
