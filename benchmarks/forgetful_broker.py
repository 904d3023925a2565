"""A broker that acknowledges records and keeps none: how fast a producer is when a broker is free.

It parses requests and answers them as Headwater's does, and leaves out what costs a broker most:
the checksums and the writing. Run with the arguments of `headwater`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from headwater.broker.apis import HANDLERS
from headwater.cli import main
from headwater.protocol import produce as codec
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.produce import PartitionProduceResult

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request


def acknowledge(broker: Broker, request: Request) -> bytes:
    """Answer a produce request without looking at its records."""
    version = request.header.api_version
    wanted = codec.decode_request(version, request.view, request.header.body)
    results = [
        (
            topic.name,
            topic.topic_id,
            [PartitionProduceResult(index, ErrorCode.NONE, 0) for index, _ in topic.partitions],
        )
        for topic in wanted.topics
    ]
    return codec.encode_response(version, results)


if __name__ == "__main__":
    HANDLERS[ApiKey.PRODUCE] = acknowledge
    sys.exit(main())
