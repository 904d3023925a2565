"""Compile the Java sources beside this script into the jar that headwater.spark gives to Spark.

    python jvm/build.py [--force] [--classpath DIRECTORY_OR_JAR]... [--ecj ECJ_JAR]

Nothing is done when the jar was made of the same sources: their digest is in its manifest.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.java.artifacts import ArtifactError, fetch
from headwater.java.runtime import JavaNotFound, JavaRuntime, find_java
from headwater.spark.jars import LIBRARIES, TRIED, connector_jars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src" / "main" / "java"
RESOURCES = HERE / "src" / "main" / "resources"
JAR = HERE.parent / "src" / "headwater" / "spark" / "jars" / "headwater-spark.jar"

# Spark 4 runs on Java 17 and newer, so classes for 17 run wherever Spark does.
JAVA_RELEASE = "17"
# The compiler for machines whose Java is a runtime only.
ECLIPSE_COMPILER = "org.eclipse.jdt:ecj:3.40.0"

DIGEST_HEADER = "Headwater-Sources"
# Zip files cannot hold an older time; a constant makes the same sources give the same jar.
EPOCH = (1980, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """The jar could not be made; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the jar unless it is up to date, and say which of the two it was."""
    options = _parser().parse_args(arguments)
    digest = source_digest()
    if not options.force and built_digest(JAR) == digest:
        return 0
    try:
        build(digest, extra=options.classpath, ecj=options.ecj)
    except (BuildError, ArtifactError, JavaNotFound) as error:
        sys.stderr.write(f"jvm/build.py: {error}\n")
        return 1
    sys.stderr.write(f"built {JAR.relative_to(HERE.parent)}\n")
    return 0


def source_digest() -> str:
    """A digest of everything that decides what is in the jar."""
    digest = hashlib.sha256()
    settings = (JAVA_RELEASE, *TRIED, *LIBRARIES, ECLIPSE_COMPILER)
    digest.update("\n".join(settings).encode())
    for root in (SOURCES, RESOURCES):
        for path in _files(root):
            content = path.read_bytes()
            digest.update(f"\n{path.relative_to(root).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def built_digest(jar: Path) -> str | None:
    """The digest of the sources that a jar was built of; None without a jar of ours."""
    try:
        with zipfile.ZipFile(jar) as archive:
            manifest = archive.read("META-INF/MANIFEST.MF").decode()
    except (FileNotFoundError, zipfile.BadZipFile, KeyError):
        return None
    lines = dict(line.split(": ", 1) for line in manifest.splitlines() if ": " in line)
    return lines.get(DIGEST_HEADER)


def build(digest: str, *, extra: Sequence[Path] = (), ecj: Path | None = None) -> None:
    """Compile and pack; the jar appears complete or not at all."""
    java = find_java(int(JAVA_RELEASE))
    classpath = [_pyspark_jars() / "*", *(_classpath_entry(path) for path in extra)]
    if not extra:
        classpath += connector_jars()  # what the sources meet when they run
    JAR.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=JAR.parent) as scratch:
        classes = Path(scratch) / "classes"
        classes.mkdir()
        _compile(java, classpath, classes, ecj)
        packed = Path(scratch) / JAR.name
        _pack(packed, digest, classes)
        packed.replace(JAR)


def _compile(java: JavaRuntime, classpath: Sequence[Path], classes: Path, ecj: Path | None) -> None:
    sources = [str(path) for path in _files(SOURCES) if path.suffix == ".java"]
    common = ["-encoding", "UTF-8", "-proc:none", "-d", str(classes)]
    if java.javac is not None and ecj is None:
        command = [
            str(java.javac),
            "--release",
            JAVA_RELEASE,
            "-Xlint:all,-processing,-classfile,-path",
        ]
        entries = [str(path) for path in classpath]
    else:
        compiler = ecj or fetch("ecj", [ECLIPSE_COMPILER], transitive=False)[0]
        command = [str(java.java), "-jar", str(compiler), "-source", JAVA_RELEASE]
        command += ["-target", JAVA_RELEASE, "-warn:none"]
        entries = [str(jar) for path in classpath for jar in _expanded(path)]
    # javac's lint speaks of Spark's own annotations otherwise, so warnings fail only for our code.
    command += [*common, "-cp", ":".join(entries), *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stdout + done.stderr)
    if done.returncode:
        raise BuildError(f"{Path(command[0]).name} refused the sources, for the reasons above")


def _pack(jar: Path, digest: str, classes: Path) -> None:
    manifest = f"Manifest-Version: 1.0\r\n{DIGEST_HEADER}: {digest}\r\n\r\n".encode()
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", EPOCH), manifest)
        for root in (classes, RESOURCES):
            for path in _files(root):
                entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file())


def _pyspark_jars() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise BuildError("PySpark is not installed: pip install 'headwater[spark]'")
    return Path(spec.origin).parent / "jars"


def _classpath_entry(path: Path) -> Path:
    return path / "*" if path.is_dir() else path


def _expanded(entry: Path) -> list[Path]:
    """The jars of a wildcard entry, which only the JDK's own tools understand."""
    return sorted(entry.parent.glob("*.jar")) if entry.name == "*" else [entry]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Build headwater-spark.jar from jvm/src.")
    parser.add_argument("--force", action="store_true", help="build even when up to date")
    parser.add_argument(
        "--classpath",
        type=Path,
        action="append",
        default=[],
        help="jar or directory of jars, instead of fetching kafka-clients",
    )
    parser.add_argument("--ecj", type=Path, help="compile with this Eclipse compiler, not javac")
    return parser


if __name__ == "__main__":
    sys.exit(main())
