from __future__ import annotations

from uuid import UUID

import pytest

from headwater.broker.topics.topic_names import (
    INTERNAL_TOPICS,
    collision_key,
    id_text,
    name_error,
    new_id,
    parse_id,
)


@pytest.mark.parametrize(
    "name", ["a", "orders", "a.b_c-D9", "...", "x" * 249, *sorted(INTERNAL_TOPICS)]
)
def test_names_that_kafka_takes(name: str) -> None:
    assert name_error(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ü", "a\n", "a,b", "x" * 250, "٣"])
def test_names_that_kafka_refuses(name: str) -> None:
    assert name_error(name) is not None


def test_dots_and_underscores_collide() -> None:
    assert collision_key("a.b_c") == collision_key("a_b.c")
    assert collision_key("a.b") != collision_key("a-b")


def test_an_id_is_random_and_no_command_line_takes_it_for_an_option() -> None:
    ids = {new_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert all(UUID(bytes=topic_id).version == 4 for topic_id in ids)
    assert not any(id_text(topic_id).startswith("-") for topic_id in ids)


def test_an_id_is_written_as_kafka_writes_it() -> None:
    topic_id = bytes(range(16))
    assert id_text(topic_id) == "AAECAwQFBgcICQoLDA0ODw"
    assert parse_id(id_text(topic_id)) == topic_id


@pytest.mark.parametrize("text", ["", "AAEC", "AAECAwQFBgcICQoLDA0ODxAR"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        parse_id(text)
