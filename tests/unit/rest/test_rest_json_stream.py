"""JSON objects in a stream: cut apart wherever the parts end, and refused where there is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.rest.v3.json_stream import JsonObjects, JsonStreamError

VALUES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(), VALUES, max_size=3), max_size=5),
    st.lists(st.integers(1, 30), max_size=20),
    st.sampled_from(["", " ", "\n", "\r\n\t"]),
)
def test_every_cut(objects: list[dict[str, object]], cuts: list[int], between: str) -> None:
    text = between.join(json.dumps(each, ensure_ascii=False) for each in objects).encode()
    stream, found = JsonObjects(1_000_000), []
    while text:
        size = cuts.pop() if cuts else len(text)
        found += stream.feed(text[:size])
        text = text[size:]
    assert [json.loads(each) for each in found] == objects
    assert stream.is_between


@pytest.mark.parametrize("text", [b"1", b'"{}"', b"[{}]", b"} {}", b"{} x"])
def test_what_is_no_object(text: bytes) -> None:
    with pytest.raises(JsonStreamError, match="which begins with"):
        JsonObjects(100).feed(text)


def test_limits() -> None:
    stream = JsonObjects(10)
    assert stream.feed(b"{}" * 100) == [b"{}"] * 100
    with pytest.raises(JsonStreamError, match="larger than 10 bytes"):
        stream.feed(b'{"a": "' + b"a" * 10)
    half = JsonObjects(10)
    half.feed(b'{"a"')
    assert not half.is_between
