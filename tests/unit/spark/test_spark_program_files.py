"""What is sent to a cluster of what lies beside a program."""

from __future__ import annotations

import importlib
import sys
import zipfile
from types import ModuleType
from typing import TYPE_CHECKING

from headwater.spark.program_files import program_files

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_modules_and_packages_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, packed = tmp_path / "program", tmp_path / "packed"
    for folder in (program / "beside_package" / "inner", packed):
        folder.mkdir(parents=True)
    (program / "beside_module.py").touch()
    (program / "never_imported.py").touch()
    (program / "beside_package" / "__init__.py").touch()
    (program / "beside_package" / "inner" / "part.py").touch()
    main = ModuleType("__main__")
    main.__file__ = str(program / "main.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.syspath_prepend(program)
    for name in ("beside_module", "beside_package"):
        monkeypatch.setitem(sys.modules, name, importlib.import_module(name))
    module, package = program_files(packed)
    assert module == program / "beside_module.py"
    assert zipfile.ZipFile(package).namelist() == [
        "beside_package/__init__.py",
        "beside_package/inner/part.py",
    ]


def test_an_interactive_python_has_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    assert list(program_files(tmp_path)) == []
