"""Java libraries by their Maven coordinates, fetched once and kept in a cache.

From the repository that HEADWATER_MAVEN_REPOSITORY names, if it names one; else through Maven where
it is installed, since it knows the user's mirrors and proxies; else through the resolver that comes
with PySpark. Without Maven, lists must name everything (`transitive=False`).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.java import ivy, maven, repository
from headwater.java.coordinates import ArtifactError, Coordinate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ArtifactError", "cache_directory", "fetch", "fetch_first"]


def cache_directory() -> Path:
    """Return where fetched libraries are kept: HEADWATER_CACHE, or ~/.cache/headwater."""
    given = os.environ.get("HEADWATER_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "headwater"


def fetch(name: str, coordinates: Sequence[str], *, transitive: bool) -> tuple[Path, ...]:
    """Return the jars of "group:artifact:version" coordinates, fetched if they are not there yet.

    With `transitive` come all the libraries that those need in turn, which takes Maven. The jars
    are in `cache_directory()/name-<digest>/`; a change of the list is a new directory. Raises
    ArtifactError, which says what could not be had and what to do.
    """
    wanted = [Coordinate.parse(text) for text in coordinates]
    directory = _directory(name, [f"transitive={transitive}", *map(str, wanted)])
    with _filling(directory, name) as partial:
        if partial is not None:
            _resolve(wanted, partial, transitive)
    if transitive:
        return tuple(sorted(directory.glob("*.jar")))
    return tuple(directory / coordinate.file_name for coordinate in wanted)


def fetch_first(name: str, choices: Sequence[str]) -> Path:
    """Return the jar of the first coordinate that can be had; which one it was is remembered.

    If it is not the first, that is said once. Raises the last one's ArtifactError if none can.
    """
    wanted = [Coordinate.parse(text) for text in choices]
    directory = _directory(name, ["first of", *map(str, wanted)])
    with _filling(directory, name) as partial:
        if partial is not None:
            _resolve_first(wanted, partial)
    return next(directory.glob("*.jar"))


def _directory(name: str, listing: Sequence[str]) -> Path:
    digest = hashlib.sha256("\n".join(listing).encode()).hexdigest()[:12]
    return cache_directory() / f"{name}-{digest}"


@contextmanager
def _filling(directory: Path, name: str) -> Iterator[Path | None]:
    """Give a folder that becomes `directory` if all goes well; None where that is there already."""
    if directory.is_dir():
        yield None
        return
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _only_one(directory):
        if directory.is_dir():  # another process has fetched it meanwhile
            yield None
            return
        _tell(f"Fetching {name} by its Maven coordinates into {directory}, once.")
        # A name that is there is complete: it appears by a rename after the last jar.
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
        try:
            yield partial
            partial.chmod(0o755)
            partial.rename(directory)
        except BaseException:
            shutil.rmtree(partial)
            raise


def _resolve_first(wanted: Sequence[Coordinate], into: Path) -> None:
    for choice in wanted[:-1]:
        try:
            _resolve([choice], into, transitive=False)
        except ArtifactError:
            continue
        return
    _resolve(wanted[-1:], into, transitive=False)
    others = ", ".join(map(str, wanted[:-1]))
    _tell(f"{others} could not be had, so it is {wanted[-1]}, which was tried out.")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - the first use takes a while: say why


def _resolve(wanted: Sequence[Coordinate], into: Path, transitive: bool) -> None:
    chosen = repository.is_chosen()
    by_maven = None if chosen else maven.command()
    by_ivy = None if chosen or transitive else ivy.command()
    if chosen and not transitive:
        repository.download(wanted, into)
    elif by_maven is not None:
        maven.resolve(by_maven, wanted, into, transitive=transitive)
    elif by_ivy is not None:
        ivy.resolve(by_ivy, wanted, into)
    else:
        raise ArtifactError(
            f"{', '.join(map(str, wanted[:3]))}{' and others' * (len(wanted) > 3)} can be fetched "
            "by Maven, and mvn is not installed. Install it, for example with: apt install maven; "
            "where pip install 'headwater[spark]' was done, Spark's own resolver mostly serves, too"
        )


@contextmanager
def _only_one(directory: Path) -> Iterator[None]:
    with open(directory.with_name(f".{directory.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
