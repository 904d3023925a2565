"""What to say where a name of Kafka Streams is called that has another one here, or none yet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

_LIST = "docs/not-yet.md"

NOT_YET: dict[str, dict[str, str]] = {
    "App": {
        "add_global_store": "look a topic up with stream.join(app.global_table(topic), on=...)",
    },
}
"""What Kafka Streams has and we do not, by class, and what there is instead."""

_RUN = "a program is run by the command: headwater run program.py"
_NO_UNDO = "no value can be taken back from it; group the changes, as table.to_stream().group_by"
_ELSEWHERE = {
    "App": {
        "start": _RUN,
        "run": _RUN,
        "build": "plan() returns what was built",
    },
    "Topology": {
        "connect_processor_and_state_stores": "a processor that asks for a store has it",
    },
    "KStream": {
        "process_values": "here it is transform_values",
        "transform": "here it is process",
    },
    "KGroupedTable": {"min": _NO_UNDO, "max": _NO_UNDO},
}
_OTHER_NAMES = {"foreach": "for_each"}


class Hints:
    """A class whose users may look for names of Kafka Streams."""

    # Hidden from type checkers: they would take every name for one that there is.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(hint(type(self), name), name=name, obj=self)


def hint(class_: type, name: str) -> str:
    """Return what to say where a class has no attribute of this name."""
    owner = class_.__name__
    plain = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
    instead = NOT_YET.get(owner, {}).get(plain)
    if instead is not None:
        return f"{owner}.{plain} is not there yet (see {_LIST}): {instead}"
    elsewhere = _ELSEWHERE.get(owner, {}).get(plain)
    if elsewhere is not None:
        return f"{owner} has no {name!r}: {elsewhere}"
    here = _OTHER_NAMES.get(plain, plain)
    if here != name and not name.startswith("_") and hasattr(class_, here):
        return f"{owner} has no {name!r}: here it is {here!r}"
    return f"{owner!r} object has no attribute {name!r}"
