"""Resolves coordinates with Ivy, the resolver that Spark brings along, where there is no Maven."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from headwater.java.coordinates import ArtifactError
from headwater.java.runtime import JavaNotFound, find_java
from headwater.java.tool import run_tool
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.java.coordinates import Coordinate

_OLDEST_JAVA = 8


def command() -> list[str] | None:
    """Return what starts Ivy, if PySpark is installed and there is a Java to run it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    jars = sorted((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))
    try:
        return [str(find_java(_OLDEST_JAVA).java), "-jar", str(jars[-1])] if jars else None
    except JavaNotFound:
        return None


def resolve(program: Sequence[str], wanted: Sequence[Coordinate], into: Path) -> None:
    """Put the jars into a directory; raises ArtifactError with Ivy's own words if it cannot."""
    with TemporaryFolder("ivy") as project:
        module = project / "ivy.xml"
        module.write_text(_module(wanted), "utf-8")
        done = run_tool(
            [
                *(*program, "-ivy", str(module), "-cache", str(project / "cache")),
                *("-types", "jar", "bundle", "-retrieve", f"{into}/[artifact]-[revision].[ext]"),
            ],
        )
    missing = [each for each in wanted if not (into / each.file_name).is_file()]
    if missing:
        raise ArtifactError(
            f"Ivy could not fetch {', '.join(map(str, missing))}: {_reason(done.stdout)}. Connect "
            "this machine to the internet once, give its proxy with JAVA_TOOL_OPTIONS="
            "-Dhttps.proxyHost=..., or set HEADWATER_MAVEN_REPOSITORY to the address of a mirror"
        )


def _module(wanted: Sequence[Coordinate]) -> str:
    lines = "".join(
        f"<dependency org={quoteattr(each.group)} name={quoteattr(each.artifact)} "
        f'rev={quoteattr(each.version)} transitive="false"/>'
        for each in wanted
    )
    return (
        '<ivy-module version="2.0"><info organisation="headwater" module="libraries"/>'
        f"<dependencies>{lines}</dependencies></ivy-module>"
    )


def _reason(printed: str) -> str:
    """Return what Ivy says of the first thing that went wrong."""
    marks = ("UNRESOLVED DEPENDENCY", "FAILED DOWNLOAD", "Connection", "Host ", "Server access")
    found = [line.strip(" \t:") for line in printed.splitlines() if any(m in line for m in marks)]
    lines = found or [line.strip() for line in printed.splitlines() if line.strip()][-1:]
    return lines[0] if lines else "it said nothing"
