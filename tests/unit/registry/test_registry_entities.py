"""Metadata, rules and settings."""

from __future__ import annotations

import msgspec
import pytest

from headwater.registry.entities import Config, ConfigUpdate, Metadata, Rule, RuleSet


def test_metadata_is_sorted_and_merged() -> None:
    older = Metadata({"b": ["y", "x", "x"], "a": ["z"]}, {"k": "1", "j": "0"}, ["s"])
    newer = Metadata({"b": ["n"]}, {"k": "2"}, ["r"])
    assert older.to_json() == {
        "tags": {"a": ["z"], "b": ["x", "y"]},
        "properties": {"j": "0", "k": "1"},
        "sensitive": ["s"],
    }
    assert older.merged_with(newer).to_json() == {
        "tags": {"a": ["z"], "b": ["n"]},
        "properties": {"j": "0", "k": "2"},
        "sensitive": ["r", "s"],
    }
    assert Metadata().to_json() == {}


def test_rules_of_the_same_name_are_replaced() -> None:
    older = RuleSet(domain_rules=[Rule("a", type="CEL"), Rule("b", type="CEL")], enable_at="CLIENT")
    newer = RuleSet(domain_rules=[Rule("a", type="JSONATA")])
    merged = older.merged_with(newer)
    assert [(rule.name, rule.type) for rule in merged.rules] == [("b", "CEL"), ("a", "JSONATA")]
    assert merged.enable_at == "CLIENT"


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        (RuleSet(domain_rules=[Rule("a", type="CEL")]), None),
        (RuleSet(domain_rules=[Rule("a")]), "Missing rule type"),
        (RuleSet(domain_rules=[Rule(type="CEL")]), "Missing rule name"),
        (RuleSet(domain_rules=[Rule("1a", type="CEL")]), "Illegal initial character"),
        (RuleSet(domain_rules=[Rule("a b", type="CEL")]), "Illegal character"),
        (RuleSet(domain_rules=[Rule("a" * 300, type="CEL")]), "too long"),
        (RuleSet(domain_rules=[Rule("a", type="CEL", mode="UPGRADE")]), "READ, WRITE"),
        (RuleSet(migration_rules=[Rule("a", type="CEL")]), "UPGRADE"),
        (RuleSet(migration_rules=[Rule("a", type="CEL", mode="UPDOWN")]), None),
        (
            RuleSet(domain_rules=[Rule("a", type="CEL", mode="READ", on_failure="DLQ,ERROR")]),
            "Multiple actions",
        ),
        (
            RuleSet(domain_rules=[Rule("a", type="x")], encoding_rules=[Rule("a", type="x")]),
            "duplicate name",
        ),
    ],
)
def test_wrong_rules_are_found(rules: RuleSet, complaint: str | None) -> None:
    found = rules.complaint()
    assert (found is None) == (complaint is None)
    assert (complaint or "") in (found or "")


def test_what_an_update_does_not_mention_stays() -> None:
    config = Config(alias="x", compatibility_level="FULL", normalize=True)
    update = msgspec.json.decode(
        b'{"alias":null,"compatibility":"NONE","unknown":1}', type=ConfigUpdate
    )
    assert update.applied_to(config) == Config(compatibility_level="NONE", normalize=True)
