"""Names of a package, and modules of extras, that are fetched when they are first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from sharpfront.errors import MissingExtraError


def fetcher(package: str, rooms: Mapping[str, str]) -> Callable[[str], Any]:
    """Return what a package has as ``__getattr__``: its modules, and names fetched from them.

    `rooms` has the names of each module, separated by blanks.
    """
    home = {name: f"{package}.{room}" for room, names in rooms.items() for name in names.split()}

    def fetch(name: str) -> Any:
        if name in home:
            found = getattr(importlib.import_module(home[name]), name)
        else:
            found = _room(package, name)
        vars(sys.modules[package])[name] = found
        return found

    return fetch


def extra_module(name: str, extra: str) -> Any:
    """Return a module that comes with an extra, or say how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(name.partition(".")[0], extra) from None


def _room(package: str, name: str) -> ModuleType:
    """Return a module of a package."""
    missing = AttributeError(f"module {package!r} has no attribute {name!r}")
    if name.startswith("_"):
        raise missing
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{package}.{name}":
            raise
        raise missing from None
