"""Zigzag varints, the integers inside Kafka's records."""

from __future__ import annotations

from headwater.log.errors import CorruptBatch

ZIGZAG = tuple((byte >> 1) ^ -(byte & 1) for byte in range(0x80))
"""The value of each varint of one byte, for readers that cannot afford a call."""

_MAX_BYTES = 10
_LOW_BITS = 0x7F
_MORE = 0x80


def read_varint(data: bytes, position: int, bits: int = 32) -> tuple[int, int]:
    """Read the signed integer at `position`, and say where the next field starts.

    A number of more than `bits` bits raises CorruptBatch, data that ends inside it IndexError.
    """
    raw = shift = 0
    for position in range(position, position + _MAX_BYTES):  # noqa: B020 - continues from it
        byte = data[position]
        raw |= (byte & _LOW_BITS) << shift
        if byte < _MORE:
            break
        shift += 7
    else:
        raise CorruptBatch(f"A record has a varint of more than {_MAX_BYTES} bytes.")
    if raw >> bits:
        raise CorruptBatch(f"A record has a varint that does not fit in {bits} bits.")
    return (raw >> 1) ^ -(raw & 1), position + 1


def write_varint(output: bytearray, value: int) -> None:
    """Append `value`, a signed integer of at most 64 bits."""
    raw = (value << 1) ^ (value >> 63)
    if raw < _MORE:
        output.append(raw)
        return
    while raw >= _MORE:
        output.append((raw & _LOW_BITS) | _MORE)
        raw >>= 7
    output.append(raw)
