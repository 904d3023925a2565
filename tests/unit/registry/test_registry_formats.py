"""The formats by their names, which a registry imports when it meets the first schema of each."""

from __future__ import annotations

import subprocess
import sys

from headwater.registry.formats import FORMATS

_IMPORTED = """
import sys
import headwater.registry.run
from headwater.registry.formats import FORMATS
FORMATS["AVRO"]
for name in ("avro", "json_schema", "protobuf"):
    print(f"headwater.registry.formats.{name}" in sys.modules)
"""


def test_each_format_has_the_name_under_which_it_is_found() -> None:
    assert {name: found.name for name, found in FORMATS.items()} == {
        "AVRO": "AVRO",
        "JSON": "JSON",
        "PROTOBUF": "PROTOBUF",
    }
    assert FORMATS.get("XML") is None


def test_a_registry_imports_the_formats_that_it_uses() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], check=True, capture_output=True, text=True
    )

    assert done.stdout.split() == ["True", "False", "False"]
