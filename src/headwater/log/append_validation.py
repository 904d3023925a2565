"""What a log takes: the checks on batches from clients, and what a topic's settings change in them.

Only headers are looked at. Records are unpacked where a setting makes it unavoidable: keys have to
be seen in a compacted topic, and another `compression.type` means to decompress and compress again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.errors import (
    CorruptBatch,
    InvalidRecord,
    InvalidTimestamp,
    LogError,
    NotOneBatch,
    RecordListTooLarge,
    RecordTooLarge,
    UnsupportedCompression,
)
from headwater.log.records.batch import (
    CODEC_MASK,
    CONTROL_BIT,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    crc_of,
    parse_header,
    stamp_timestamp_type,
)

if TYPE_CHECKING:
    from headwater.log.config import LogConfig

_HIGHEST_CODEC = 4
_NO_TIMESTAMP = -1


def check_client_batch(
    records: memoryview, config: LogConfig, now_ms: int, log_name: str
) -> BatchHeader:
    """See that a client's bytes are exactly one intact batch that this log may take."""
    size = len(records)
    if size < HEADER_SIZE:
        raise NotOneBatch(
            f"The records for {log_name} are {size} bytes, which is no complete record batch."
        )
    header = parse_header(records)
    if header.magic != MAGIC:
        wrong = NotOneBatch if 0 <= header.magic < MAGIC else CorruptBatch
        raise wrong(
            f"The batch for {log_name} has magic {header.magic}; "
            f"only magic {MAGIC} is accepted, which clients use since Kafka 0.11."
        )
    if header.batch_length + LOG_OVERHEAD != size:
        raise _wrong_length(header, size, log_name)
    check_size(size, config, log_name)
    if header.crc != crc_of(records):
        raise CorruptBatch(
            f"The batch for {log_name} does not match its CRC-32C; "
            "it was damaged on its way from the client."
        )
    count = header.record_count
    if count < 1 or header.last_offset_delta != count - 1:
        raise InvalidRecord(
            f"The batch for {log_name} claims {count} records, "
            f"but its last offset delta is {header.last_offset_delta}."
        )
    attributes = header.attributes
    if attributes & CODEC_MASK > _HIGHEST_CODEC:
        raise UnsupportedCompression(
            f"The batch for {log_name} has codec {attributes & CODEC_MASK}; "
            "known are 0 (none), 1 (gzip), 2 (snappy), 3 (lz4) and 4 (zstd)."
        )
    if attributes & CONTROL_BIT:
        raise InvalidRecord(f"Clients may not write control batches to {log_name}.")
    if header.base_sequence < 0 <= header.producer_id:
        raise InvalidRecord(
            f"The batch for {log_name} has producer id {header.producer_id} "
            f"but the sequence {header.base_sequence}."
        )
    if config.message_timestamp_type == "CreateTime":
        _check_timestamps(records, header, config, now_ms, log_name)
    elif attributes & TIMESTAMP_TYPE_BIT:
        raise InvalidTimestamp(
            f"The batch for {log_name} is marked LogAppendTime, which only the broker may do."
        )
    return header


def coordinator_batches(
    records: memoryview, config: LogConfig, log_name: str
) -> list[tuple[int, BatchHeader]]:
    """Split what the broker itself wrote into batches: position and header of each."""
    batches = []
    position = 0
    while position < len(records):
        header = parse_header(records, position)
        size = header.size
        if header.magic != MAGIC or size < HEADER_SIZE or position + size > len(records):
            raise CorruptBatch(f"The batch at byte {position} for {log_name} is not intact.")
        if header.crc != crc_of(records[position : position + size]):
            raise CorruptBatch(f"The batch at byte {position} for {log_name} fails its CRC-32C.")
        if size > config.max_message_bytes:
            raise _too_large(size, config, log_name)
        batches.append((position, header))
        position += size
    if not batches:
        raise InvalidRecord(f"There is no batch to append to {log_name}.")
    if len(records) > config.segment_bytes:
        raise _longer_than_segment(len(records), config, log_name)
    return batches


def check_size(size: int, config: LogConfig, log_name: str) -> None:
    """Hold a batch against `max.message.bytes` and `segment.bytes`."""
    if size > config.max_message_bytes:
        raise _too_large(size, config, log_name)
    if size > config.segment_bytes:
        raise _longer_than_segment(size, config, log_name)


def changes_batches(config: LogConfig) -> bool:
    """Whether the topic's settings demand more of a batch than the header shows."""
    return (
        config.compression_type != "producer"
        or config.message_timestamp_type != "CreateTime"
        or config.compacts
    )


def conform(
    records: memoryview, header: BatchHeader, config: LogConfig, now_ms: int, log_name: str
) -> tuple[memoryview, BatchHeader]:
    """Bring a client's batch into the form that the topic's settings ask for."""
    if config.compacts:
        _check_keys(records, header, log_name)
    records, header = _recompress(records, header, config, log_name)
    log_append_time = config.message_timestamp_type == "LogAppendTime"
    if log_append_time:
        stamp_timestamp_type(records, header.attributes | TIMESTAMP_TYPE_BIT, now_ms)
    elif header.attributes & TIMESTAMP_TYPE_BIT:
        # The producer's word on whose clock it was does not count; the topic's does.
        stamp_timestamp_type(records, header.attributes & ~TIMESTAMP_TYPE_BIT, header.max_timestamp)
    else:
        return records, header
    return records, parse_header(records)


def _check_timestamps(
    records: memoryview, header: BatchHeader, config: LogConfig, now_ms: int, log_name: str
) -> None:
    latest = now_ms + config.message_timestamp_after_max_ms
    earliest = now_ms - config.message_timestamp_before_max_ms
    if header.max_timestamp <= latest and earliest < 0:
        return
    from headwater.log.records.record import decode_records

    # The header has the latest timestamp but not the earliest, so each record is looked at.
    bad = [
        (index, f"Its timestamp is {record.timestamp}.")
        for index, record in enumerate(decode_records(records))
        if record.timestamp != _NO_TIMESTAMP and not earliest <= record.timestamp <= latest
    ]
    if bad:
        raise _to_blame(
            bad,
            InvalidTimestamp(
                f"Record {bad[0][0]} of the batch for {log_name} is more than "
                "message.timestamp.before.max.ms before or message.timestamp.after.max.ms after "
                f"the broker's time {now_ms}: {earliest} to {latest} is allowed. {bad[0][1]}"
            ),
        )


def _check_keys(records: memoryview, header: BatchHeader, log_name: str) -> None:
    from headwater.log.records.record import uncompressed_records
    from headwater.log.records.record_scan import scan_records

    scanned = scan_records(uncompressed_records(records, header), header.record_count)
    bad = [(index, "It has no key.") for index, record in enumerate(scanned) if record[3] is None]
    if bad:
        raise _to_blame(
            bad,
            InvalidRecord(
                f"Record {bad[0][0]} of the batch for {log_name} has no key, "
                "which a compacted topic cannot take."
            ),
        )


def _to_blame(bad: list[tuple[int, str]], error: LogError) -> LogError:
    error.bad_records = bad
    return error


def _recompress(
    records: memoryview, header: BatchHeader, config: LogConfig, log_name: str
) -> tuple[memoryview, BatchHeader]:
    name = config.compression_type
    if name == "producer":
        return records, header
    from headwater.log.records.compression_type import CompressionType
    from headwater.log.records.record import (
        assemble_batch,
        compressed_records,
        uncompressed_records,
    )

    codec = CompressionType.from_name(name)
    if codec == header.codec:
        return records, header
    level = {
        CompressionType.GZIP: config.compression_gzip_level,
        CompressionType.LZ4: config.compression_lz4_level,
        CompressionType.ZSTD: config.compression_zstd_level,
    }.get(codec)
    payload = compressed_records(uncompressed_records(records, header), codec, level)
    attributes = header.attributes & ~CODEC_MASK | codec
    rewritten = memoryview(assemble_batch(header._replace(attributes=attributes), payload))
    check_size(len(rewritten), config, log_name)
    return rewritten, parse_header(rewritten)


def _wrong_length(header: BatchHeader, size: int, log_name: str) -> Exception:
    claimed = header.batch_length + LOG_OVERHEAD
    if claimed < HEADER_SIZE:
        return CorruptBatch(
            f"The batch for {log_name} claims {claimed} bytes, fewer than its header has."
        )
    if claimed > size:
        return NotOneBatch(
            f"The batch for {log_name} claims {claimed} bytes, but only {size} were sent."
        )
    return NotOneBatch(
        f"The records for {log_name} go on for {size - claimed} bytes after the first batch; "
        "a request carries exactly one batch for each partition."
    )


def _too_large(size: int, config: LogConfig, log_name: str) -> RecordTooLarge:
    return RecordTooLarge(
        f"The batch for {log_name} has {size} bytes; "
        f"max.message.bytes allows {config.max_message_bytes}."
    )


def _longer_than_segment(size: int, config: LogConfig, log_name: str) -> RecordListTooLarge:
    return RecordListTooLarge(
        f"The batch for {log_name} has {size} bytes; "
        f"segment.bytes allows {config.segment_bytes} for a whole segment."
    )
