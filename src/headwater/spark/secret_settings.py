"""Spark's settings that are secrets, on their way to its JVM: in a file, never on a command line.

PySpark starts the JVM with all settings as arguments, which every user of the machine sees.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SECRETS = "(?i)secret|password|token|access[.]?key|account[.]?key|credential|jaas|keystore"
"""The names that Spark takes for those of secrets, by `spark.redaction.regex`."""

_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_USUAL_ARGUMENTS = "pyspark-shell"
_FILE = "secrets.conf"
_IS_SECRET = re.compile(SECRETS)
# What has a meaning in Java's properties, in names as well as in values.
_SPECIAL = re.compile(r"[\\\s:=#!]")
_SPACES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def public_and_secret(settings: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings that anybody may see, and those that nobody may.

    >>> public_and_secret({"spark.ui.enabled": "false", "spark.authenticate.secret": "x"})
    ({'spark.ui.enabled': 'false'}, {'spark.authenticate.secret': 'x'})
    """
    secret = {
        name: text
        for name, text in settings.items()
        # Others than Spark's own are not read from its files.
        if name.startswith("spark.") and _IS_SECRET.search(name)
    }
    return {name: text for name, text in settings.items() if name not in secret}, secret


@contextmanager
def handed_over(secret: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Let a JVM that is started meanwhile find these settings in its folder."""
    if not secret:
        yield
        return
    path = folder / _FILE
    # With its mode from the beginning: there is no moment in which others could open it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{_escape(n)}={_escape(text)}\n" for n, text in secret.items())
    before = os.environ.get(_ARGUMENTS)
    # Spark's own file of settings would else be read no more.
    own = f"--properties-file {shlex.quote(str(path))} --load-spark-defaults"
    os.environ[_ARGUMENTS] = f"{own} {before or _USUAL_ARGUMENTS}"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ARGUMENTS]
        else:
            os.environ[_ARGUMENTS] = before
        path.unlink()


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: _SPACES.get(found[0], f"\\{found[0]}"), text)
