"""Which topics of sources are made how."""

from __future__ import annotations

import pytest

from headwater.config import ConfigError
from headwater.connect.worker.topic_creation import topic_groups
from headwater.connect.worker.validation import validated

DEFAULT = {"default.partitions": "3", "default.replication.factor": "-1"}


def settings(**given: str) -> dict[str, str]:
    named = {name.replace("__", "."): value for name, value in given.items()}
    return {f"topic.creation.{name}": value for name, value in (DEFAULT | named).items()}


def test_a_topic_belongs_to_the_first_group_that_has_it() -> None:
    groups = topic_groups(
        settings(
            groups="logs, default, rest",
            logs__include=".*-log,trace",
            logs__exclude="audit-.*",
            logs__partitions="1",
            logs__retention__ms="5",
            rest__include="audit-.*",
            rest__replication__factor="2",
        )
    )

    def of(topic: str) -> tuple[int, int, dict[str, str]]:
        group = next(each for each in groups if each.has(topic))
        return group.partitions, group.replication_factor, dict(group.config)

    assert of("web-log") == of("trace") == (1, -1, {"retention.ms": "5"})
    assert of("audit-log") == (3, 2, {})
    assert of("orders") == (3, -1, {})


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"default.partitions": "0"}, "default.partitions"),
        ({"default.replication.factor": "all"}, "default.replication.factor"),
        ({"groups": "a"}, "a.include"),
        ({"groups": "a", "a.include": "("}, "a.include"),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(given: dict[str, str], name: str) -> None:
    properties = settings(**given)
    with pytest.raises(ConfigError) as refused:
        topic_groups(properties)
    assert refused.value.name == f"topic.creation.{name}"
    config = {"connector.class": "FileStreamSource", "name": "n", "file": "f", "topic": "t"}
    json = "org.apache.kafka.connect.json.JsonConverter"
    found = validated(config | properties, {"key.converter": json, "value.converter": json})
    assert found.errors == [str(refused.value)]


def test_the_default_is_needed() -> None:
    assert topic_groups({"topic": "t"}) == ()
    with pytest.raises(ConfigError, match=r"default\.partitions: it is needed"):
        topic_groups({"topic.creation.groups": "a", "topic.creation.a.include": "x"})
