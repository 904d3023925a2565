"""What a program imports from beside it, for the Python workers of a Spark cluster.

On this machine they find it by themselves. Installed packages are not sent: a cluster has its own.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


def send_program_files(session: SparkSession, folder: Path) -> None:
    """Send the modules and packages that the program has loaded; `folder` is for what is packed."""
    for path in program_files(folder):
        session.sparkContext.addPyFile(str(path))


def program_files(folder: Path) -> Iterator[Path]:
    """Return modules as they are, and packages as ZIP files in the folder."""
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    if program is None:  # an interactive Python, whose functions are sent as they are
        return
    beside = Path(program).resolve().parent
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name == "__main__" or "." in name or file is None:
            continue
        path = Path(file).resolve()
        if path == beside / f"{name}.py":
            yield path
        elif path == beside / name / "__init__.py":
            yield _packed(path.parent, folder / f"{name}.zip")


def _packed(package: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(package.rglob("*.py")):
            archive.write(path, path.relative_to(package.parent))
    return target
