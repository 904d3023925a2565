"""Rule files: what is taken, and what is refused with the rule and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.monitor.alerts.conditions import CONDITIONS, GroupStatus, TopicIdle
from headwater.monitor.alerts.rule_file import RuleFileError, read_rules, seconds_of
from headwater.monitor.alerts.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

LATE = 'name = "Late"\nwhen = "group-lag"\nabove = 5\n'


def read(path: Path, *tables: str) -> tuple[Rule, ...]:
    file = path / "rules.toml"
    file.write_text("".join(f"[[rule]]\n{table}\n" for table in tables))
    return read_rules(file)


def test_rules_are_read(tmp_path: Path) -> None:
    stopped = 'name = "Stopped"\nwhen = "group-status"\nstatus = "STOP"\nseverity = "critical"\n'
    quiet = 'name = "Quiet"\nwhen = "topic-idle"\ntopic = "a.*"\nseconds = "1h"\nfor = "90s"\n'
    assert read(tmp_path, stopped, quiet) == (
        Rule("Stopped", GroupStatus(("STOP",)), 0, "critical"),
        Rule("Quiet", TopicIdle("a.*", 3600), 90, "warning"),
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "it has no 'name'"),
        ('name = "a b"\nwhen = "group-lag"\n', "letters, digits"),
        ('name = "a"\n', "it has no 'when'"),
        ('name = "a"\nwhen = "group-lags"\n', "did you mean group-lag?"),
        ('name = "a"\nwhen = 1\n', "when is 1; it has to be a text"),
        ('name = "a"\nwhen = "group-lag"\n', "group-lag needs above"),
        (f"{LATE}grup = 'a'\n", "did you mean group?"),
        (f"{LATE}severity = 'bad'\n", "severity is 'bad'; it may be critical"),
        (f"{LATE}for = '5 minutes'\n", "'5 minutes' is no length of time"),
        (f"{LATE}group = '('\n", "group is no regular expression"),
        (LATE.replace("5", "true"), "above is True; it has to be a number"),
        ('name = "a"\nwhen = "group-status"\nstatus = ["BAD"]\n', "status has no 'BAD'"),
    ],
)
def test_what_is_wrong_is_told_with_its_rule(tmp_path: Path, table: str, message: str) -> None:
    first = LATE.replace("Late", "First")
    with pytest.raises(RuleFileError) as refused:
        read(tmp_path, first, table)
    assert message in str(refused.value)
    assert "rules.toml, rule 2" in str(refused.value)


def test_two_rules_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match=r"rule 2 \(Late\): another rule has the same name"):
        read(tmp_path, LATE, LATE)


@pytest.mark.parametrize("text", ["rule = 1", "[[rules]]\n", "a = 1\n[[rule]]\n", "[[", "\xff"])
def test_what_is_no_rule_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(RuleFileError, match=r"rules\.toml"):
        read_rules(file)


def test_lengths_of_time() -> None:
    assert seconds_of("2d") == 172_800
    for text in ("", "5", "m", "5m x", "-5m"):
        with pytest.raises(ValueError, match="length of time"):
            seconds_of(text)


def test_every_condition_can_be_named() -> None:
    assert len(CONDITIONS) == len(set(CONDITIONS.values()))
