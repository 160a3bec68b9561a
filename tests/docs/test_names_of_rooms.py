"""In one room a name has one meaning: one module defines it, private names too."""

import functools
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sharpfront"
HOUSE = runpy.run_path(str(ROOT / "benchmarks" / "house.py"))
ROOMS = {path.parent.name for path in SOURCE.glob("*/__init__.py")}


@functools.cache
def defined_twice():
    return HOUSE["defined_twice"]()


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_one_module_defines_a_name(room):
    assert defined_twice()[room] == {}


def test_names_of_all_kinds_are_seen():
    text = "FAR: int = 1\nLOW, (_HIGH, *REST) = 1, (2,)\nclass A: ...\ndef _f(): ...\n__all__ = []"
    assert HOUSE["names_defined"](text) == {"FAR", "LOW", "_HIGH", "REST", "A", "_f"}
