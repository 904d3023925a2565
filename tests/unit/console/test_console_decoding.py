"""Keys and values are found out by looking at them."""

from __future__ import annotations

import struct

import pytest

from headwater.console.model.records.decoding import MAX_SHOWN, Decoder, pretty
from headwater.serde import Context

DECODER = Decoder(None)


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (None, "null", ""),
        (b"", "empty", ""),
        (b'{"a": 1}', "JSON", '{"a": 1}'),
        (b"[1, 2", "text", "[1, 2"),
        (b"42", "text", "42"),
        ("grüezi\n".encode(), "text", "grüezi\n"),
        (struct.pack(">q", -5), "long", "-5"),
        (struct.pack(">i", 7), "int", "7"),
        (b"\xff\xfe\x00", "bytes", "ff fe 00"),
        (b"ab\x00", "bytes", "61 62 00"),
        (b"[" * 100_000, "text", "[" * MAX_SHOWN),
    ],
)
def test_kinds(data: bytes | None, kind: str, text: str) -> None:
    decoded = DECODER.decode_bytes(data, Context("t"))
    assert (decoded.kind, decoded.text) == (kind, text)
    assert decoded.size == len(data or b"")


def test_what_is_huge_is_cut_between_letters() -> None:
    decoded = DECODER.decode_bytes("ü".encode() * 100_001, Context("t"))
    assert decoded.is_cut
    assert set(decoded.text) == {"ü"}
    odd = DECODER.decode_bytes(b"a" + "ü".encode() * 100_000, Context("t"))
    assert (odd.kind, odd.text[-1]) == ("text", "ü")
    assert DECODER.decode_bytes(b"\xff" * 1_000_000, Context("t")).is_cut


def test_json_by_itself_is_on_many_lines() -> None:
    decoded = DECODER.decode_bytes(b'{"a": [1]}', Context("t"))
    assert pretty(decoded) == '{\n  "a": [\n    1\n  ]\n}'
