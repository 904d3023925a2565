"""Sends a user's classes to where they run, also those of modules that nobody can import there."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle as _cloudpickle

if TYPE_CHECKING:
    from types import ModuleType

cloudpickle: Any = _cloudpickle  # which has no types


def packed(thing: Any, *of: Any) -> bytes:
    """Return something as bytes, with the classes and functions that it is made of."""
    with ExitStack() as registered:
        for module in {_module(each) for each in of} - {None}:
            cloudpickle.register_pickle_by_value(module)
            registered.callback(cloudpickle.unregister_pickle_by_value, module)
        return bytes(cloudpickle.dumps(thing))


def unpacked(data: bytes) -> Any:
    """Return what was packed."""
    return cloudpickle.loads(data)


def _module(of: Any) -> ModuleType | None:
    """Return the module if it is the user's own: what is installed is there on both sides."""
    module = sys.modules.get(getattr(of, "__module__", None) or "")
    file = getattr(module, "__file__", None) or ""
    is_installed = "site-packages" in file or "dist-packages" in file
    is_ours = module is not None and module.__name__.partition(".")[0] == "headwater"
    return None if not file or is_installed or is_ours else module
