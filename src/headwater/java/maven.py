"""Resolves coordinates with the Maven of this machine, and so with its mirrors and proxies."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from headwater.java.coordinates import ArtifactError
from headwater.java.runtime import JavaNotFound, find_java
from headwater.java.tool import run_tool
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.java.coordinates import Coordinate

_PLUGIN = "3.8.1"
_OLDEST_JAVA = 8
# How to run Maven again for more details: of no use to somebody who did not run it.
_ADVICE = re.compile(r"To see the full stack|Re-run Maven|For more information|\] \[Help")

_AROUND = re.compile(r"^Failed to execute goal .* on project libraries: |\s*-> \[Help 1\]$")


def command() -> str | None:
    """Return Maven's program, if it is here and there is a Java to run it."""
    program = shutil.which("mvn")
    if program is None:
        return None
    try:
        find_java(_OLDEST_JAVA)
    except JavaNotFound:
        return None
    return program


def resolve(program: str, wanted: Sequence[Coordinate], into: Path, *, transitive: bool) -> None:
    """Put the jars into a directory; raises ArtifactError with Maven's own words if it cannot."""
    goal = "copy-dependencies" if transitive else "copy"
    with TemporaryFolder("maven") as project:
        (project / "pom.xml").write_text(_pom(wanted, transitive), "utf-8")
        done = run_tool(
            [
                *(program, "--batch-mode", "--no-transfer-progress", "--quiet"),
                # Try again what an earlier run did not find; the network may be better now.
                "--update-snapshots",
                f"org.apache.maven.plugins:maven-dependency-plugin:{_PLUGIN}:{goal}",
                f"-DoutputDirectory={into}",
                "-DincludeScope=runtime",
            ],
            directory=project,
            environment={**os.environ, "JAVA_HOME": str(find_java(_OLDEST_JAVA).home)},
        )
    if done.returncode != 0:
        raise ArtifactError(_explanation(wanted, done.stdout))


def _pom(wanted: Sequence[Coordinate], transitive: bool) -> str:
    element = "dependency" if transitive else "artifactItem"
    items = "".join(
        f"<{element}><groupId>{each.group}</groupId><artifactId>{each.artifact}</artifactId>"
        f"<version>{each.version}</version></{element}>\n"
        for each in wanted
    )
    # `copy` takes its list from the plugin's settings and looks at no POM of theirs: some name
    # versions of other libraries that no repository has.
    body = (
        f"<dependencies>\n{items}</dependencies>"
        if transitive
        else "<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>"
        f"<artifactId>maven-dependency-plugin</artifactId><version>{_PLUGIN}</version>"
        f"<configuration><artifactItems>\n{items}</artifactItems></configuration>"
        "</plugin></plugins></build>"
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>headwater</groupId>"
        f"<artifactId>libraries</artifactId><version>1</version><packaging>pom</packaging>\n{body}"
        "</project>\n"
    )


def _explanation(wanted: Sequence[Coordinate], output: str) -> str:
    output = re.sub(r"\x1b\[[0-9;]*m", "", output)
    missing = [str(each) for each in wanted if f"{each.artifact}:jar:{each.version}" in output]
    said = [
        _AROUND.sub("", line.removeprefix("[ERROR]").strip())
        for line in output.splitlines()
        if line.startswith("[ERROR]") and not _ADVICE.search(line)
    ]
    return (
        f"Maven could not fetch {', '.join(missing or map(str, wanted))}. It says:\n"
        + "".join(f"  {line}\n" for line in (said or output.splitlines()) if line)
        + "If this machine reaches the internet through a proxy or a mirror, say so in "
        "~/.m2/settings.xml, or set HEADWATER_MAVEN_REPOSITORY to the mirror's address"
    )
