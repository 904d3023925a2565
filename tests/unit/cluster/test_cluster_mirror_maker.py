"""What MirrorMaker is told, and what it is started with."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import pytest

from headwater.cluster import mirror_maker
from headwater.cluster.mirror_maker import Flow, MirrorMakerFiles, flows, of_cluster, one_way

if TYPE_CHECKING:
    from pathlib import Path

BOTH_WAYS = {
    "clusters": "a, b",
    "a.bootstrap.servers": "one:9092",
    "b.bootstrap.servers": "two:9092",
    "a->b.enabled": "true",
    "a->b.topics": "orders",
    "b->a.enabled": "true",
}


def test_a_file_says_what_goes_where() -> None:
    assert flows(BOTH_WAYS) == [Flow("a", "b"), Flow("b", "a")]
    assert flows(BOTH_WAYS, ["a"]) == [Flow("b", "a")]
    assert flows({**BOTH_WAYS, "b->a.enabled": "False"}) == [Flow("a", "b")]


@pytest.mark.parametrize(
    ("changed", "targets", "reason"),
    [
        ({"clusters": ""}, [], "`clusters` is missing"),
        ({"clusters": "a, b, c"}, [], "c.bootstrap.servers is missing"),
        ({"a->c.enabled": "true"}, [], "a->c.enabled: `clusters` does not name c, but a, b"),
        ({"a->b.enabled": "false", "b->a.enabled": "false"}, [], "a->b.enabled = true would"),
        ({}, ["c"], "`clusters` does not name c, but a, b"),
    ],
)
def test_what_is_wrong_is_told(changed: dict[str, str], targets: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("->", "-.")):
        flows({**BOTH_WAYS, **changed}, targets)


def test_two_addresses_make_a_file(tmp_path: Path) -> None:
    source = {"bootstrap.servers": "one:9092", "sasl.mechanism": "PLAIN"}
    made = one_way(source, {"bootstrap.servers": "two:9092"}, alias="lab", has_same_names=True)
    assert flows(made) == [Flow("lab", "target")]
    assert of_cluster(made, "lab") == source
    assert made["replication.policy.class"] == mirror_maker.IDENTITY_POLICY
    named = one_way(source, source, alias="lab", has_same_names=False)
    assert "replication.policy.class" not in named

    MirrorMakerFiles(tmp_path).write({**made, "replication.factor": "3"})
    written = (tmp_path / "mm2.properties").read_text("latin-1").splitlines()
    assert "lab->target.enabled=true" in written
    assert "replication.factor=3" in written
    assert "offset.storage.replication.factor=-1" in written
    assert "target.offset.flush.interval.ms=10000" in written


def test_examples() -> None:
    assert doctest.testmod(mirror_maker).failed == 0
