"""Writes docs/connect-transforms.md from the definitions: `python docs/connect_transforms.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.config.documentation import markdown_table
from headwater.connect.predicates.all_predicates import PREDICATES
from headwater.connect.transforms.all_transforms import TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Definitions

PAGE = Path(__file__).with_name("connect-transforms.md")
KAFKA = "org.apache.kafka.connect.transforms"

_INTRODUCTION = """\
# Connect: transforms and predicates

<!-- Written by docs/connect_transforms.py from the definitions in the code. -->

What happens to records between a connector and a topic. The class names, properties and defaults
are Kafka's and Debezium's, so that the `transforms` of a configuration made for Kafka Connect work
as they are. They become expressions of one Spark query: but for PythonFunction, no record passes
through Python, and ten of them are compiled into one plan as one is.

Each takes records of sources and of sinks, with a schema or without. `$Key` and `$Value` say which
side it works on. A property that a transform does not have is refused, with the name that was
likely meant, before the connector starts.

Where they differ from Kafka's:

- A batch has one schema for its keys and one for its values, also where a value is null. So
  HoistField puts a tombstone into a struct with a schema, and what cannot be done with a schema at
  all fails for tombstones too. JsonConverter writes null for a tombstone, never an envelope.
- With a predicate, a transform that adds or drops fields leaves a struct with the fields of both;
  those that a record does not have are null. Where the two have no type in common the connector
  is refused, and says so.
- Patterns of dates are those of SimpleDateFormat with the letters G y M d D E a H k K h m s S z Z
  X. `S` is a fraction of a second, so that `SSSSSS` are microseconds, and text behind the pattern
  is refused, where Java would leave it unread.
- Header values are written by the connector's [`header.converter`](connect.md#headers), by
  default as text.
- JsonConverter writes null for a required field that is null, where Kafka's fails.
- Flatten takes objects without a schema that are up to 12 levels deep.
"""

_PREDICATES = """\
## Predicates

`predicate` names the predicate of a transform, and `negate` turns it around. `predicates` has the
names, as `transforms` has those of the transforms.
"""


class Example(NamedTuple):
    """A transform's settings, and a record without a schema before and after it."""

    settings: Mapping[str, str]
    before: Mapping[str, Any]
    after: Mapping[str, Any] | None


def _value(before: Any, after: Any, name: str, **settings: str) -> Example:
    named = {key.replace("_", "."): text for key, text in settings.items()}
    return Example({"type": name} | named, {"value": before}, {"value": after})


EXAMPLES = (
    _value({"id": "7"}, {"id": 7}, f"{KAFKA}.Cast$Value", spec="id:int32"),
    Example(
        {"type": f"{KAFKA}.DropHeaders", "headers": "trace"},
        {"headers": {"trace": "1", "kind": "a"}},
        {"headers": {"kind": "a"}},
    ),
    _value({"id": 7, "name": "Ada"}, "Ada", f"{KAFKA}.ExtractField$Value", field="name"),
    Example({"type": f"{KAFKA}.Filter"}, {"value": {"id": 7}}, None),
    _value(
        {"id": 7, "at": {"city": "Bern"}},
        {"id": 7, "at_city": "Bern"},
        f"{KAFKA}.Flatten$Value",
        delimiter="_",
    ),
    Example(
        {
            "type": f"{KAFKA}.HeaderFrom$Value",
            "fields": "id",
            "headers": "id",
            "operation": "move",
        },
        {"value": {"id": 7, "name": "Ada"}},
        {"value": {"name": "Ada"}, "headers": {"id": "7"}},
    ),
    _value("a line", {"line": "a line"}, f"{KAFKA}.HoistField$Value", field="line"),
    Example(
        {"type": f"{KAFKA}.InsertField$Value", "topic.field": "from"},
        {"topic": "people", "value": {"id": 7}},
        {"topic": "people", "value": {"from": "people", "id": 7}},
    ),
    Example(
        {"type": f"{KAFKA}.InsertHeader", "header": "kind", "value.literal": "a"},
        {"headers": {}},
        {"headers": {"kind": "a"}},
    ),
    _value({"pin": 1234}, {"pin": 0}, f"{KAFKA}.MaskField$Value", fields="pin"),
    Example(
        {"type": f"{KAFKA}.RegexRouter", "regex": "db\\.(.*)", "replacement": "$1"},
        {"topic": "db.people"},
        {"topic": "people"},
    ),
    _value(
        {"id": 7, "nm": "Ada"},
        {"name": "Ada"},
        f"{KAFKA}.ReplaceField$Value",
        exclude="id",
        renames="nm:name",
    ),
    _value(
        {"at": 1700000000000},
        {"at": "2023-11-14"},
        f"{KAFKA}.TimestampConverter$Value",
        field="at",
        target_type="string",
        format="yyyy-MM-dd",
    ),
    Example(
        {"type": f"{KAFKA}.TimestampRouter", "timestamp.format": "yyyyMM"},
        {"topic": "logs", "timestamp": 1700000000000},
        {"topic": "logs-202311", "timestamp": 1700000000000},
    ),
    Example(
        {"type": f"{KAFKA}.ValueToKey", "fields": "id"},
        {"value": {"id": 7, "name": "Ada"}},
        {"key": {"id": 7}, "value": {"id": 7, "name": "Ada"}},
    ),
    _value(
        {"op": "u", "before": {"id": 7}, "after": {"id": 8}, "source": {"table": "t"}},
        {"__table": "t", "id": 8},
        "io.debezium.transforms.ExtractNewRecordState",
        add_fields="table",
    ),
)


def page() -> str:
    """Return the page."""
    parts = [_INTRODUCTION, "## Transforms\n\n", "| transform | what it does |\n| --- | --- |\n"]
    parts += [
        f"| [{_short(each)}](#{_short(each).lower()}) | {each.doc} |\n" for each in TRANSFORMS
    ]
    for each in TRANSFORMS:
        names = " or ".join(f"`{name}`" for name in each.class_names)
        parts.append(f"\n### {_short(each)}\n\n{names}\n\n{each.doc}\n\n{_table(each.definitions)}")
        parts += [
            _example(example)
            for example in EXAMPLES
            if example.settings["type"] in each.class_names
        ]
    parts.append(f"\n{_PREDICATES}")
    parts += [
        f"\n### {each.__name__}\n\n`{each.class_name}`\n\n{each.doc}\n\n{_table(each.definitions)}"
        for each in PREDICATES
    ]
    return "".join(parts).rstrip() + "\n"


def _short(transform: Any) -> str:
    return str(transform.__name__)


def _table(definitions: Definitions) -> str:
    return markdown_table(definitions.values()) if definitions else "There is nothing to set.\n"


def _example(example: Example) -> str:
    settings = "\n".join(f"transforms.it.{name}={text}" for name, text in example.settings.items())
    after = "nothing" if example.after is None else f"`{json.dumps(example.after)}`"
    block = f"\n```properties\ntransforms=it\n{settings}\n```\n"
    return f"{block}\n`{json.dumps(example.before)}` becomes {after}.\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE}\n")
