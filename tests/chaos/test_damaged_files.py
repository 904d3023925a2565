"""Bytes that change on the disk of a broker in use: told, counted, and what is intact is served."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.chaos.test_torn_tail import batches_in, patch
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import create_topic, fetch, produce
from tests.integration.record_batches import batch_of, records_in
from tests.integration.scrape import Metrics
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.conftest import StartBroker

pytestmark = pytest.mark.chaos

BATCHES = 120


def test_damage_is_told_and_everything_intact_is_read(start_broker: StartBroker) -> None:
    broker = start_broker({"headwater.metrics.port": "0"})
    chance = random.Random(7)
    with RawClient(broker) as client:
        topic = create_topic(client, "hurt", configs={"internal.segment.bytes": "200000"})
        for number in range(BATCHES):
            answer = produce(client, topic, batch_of([b"%05d" % number + chance.randbytes(5000)]))
            assert answer.base_offset == number
        directory = broker.data_dir / "hurt-0"
        index, log = directory / f"{0:020d}.index", sorted(directory.glob("*.log"))[1]
        # Nine of ten entries point elsewhere, and in the next segment one batch is none any more.
        for entry in range(index.stat().st_size // 8):
            if entry % 10:
                patch(index, entry * 8 + 6, lambda old: bytes([old[0] ^ 0x15]), 1)
        victim = batches_in(log)[5]
        patch(log, victim.position + 16, lambda _: b"\x07", 1)

        hurt = victim.next_offset - 1
        for _ in range(2):
            for offset in range(BATCHES):
                found = fetch(client, topic, offset, partition_max_bytes=1)
                if offset == hurt:
                    assert found.error_code is ErrorCode.corrupt_message
                else:
                    assert found.error_code is ErrorCode.none, offset
                    assert records_in(found.records)[0][0] == offset

    wait_for(lambda: Metrics(broker).value("kafka_log_logmanager_indexrebuilds_total"))
    assert Metrics(broker).value("kafka_log_logmanager_corruptbatchreads_total") >= 2
    for cause in ("its index is damaged", f"{log} is damaged: The batch at byte {victim.position}"):
        assert broker.says(cause)
        assert broker.text.count(cause) == 1
    assert "Traceback" not in broker.text


def test_a_damaged_file_of_producer_ids_keeps_no_producer_waiting(
    start_broker: StartBroker,
) -> None:
    from confluent_kafka import Producer

    broker = start_broker()

    def send() -> None:
        producer = Producer(
            {"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True}
        )
        producer.produce("ids", b"record")
        assert producer.flush(120) == 0

    send()
    broker.stop()
    (broker.data_dir / "headwater.producer-ids").write_bytes(b"\x00\x17garbage")
    broker.start()
    send()
    assert broker.says("headwater.producer-ids is damaged")
