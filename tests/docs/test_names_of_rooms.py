"""In one room a name has one meaning: one module defines it, private names too."""

import functools
import re
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


# Who writes a domain down by its kind, or takes no other.
BY_KIND = {"geometry", "show/statement/script.py"}


def test_what_a_domain_is_is_asked_of_it():
    """`domain.is_box` and `domain.time`, not its class."""
    guess = re.compile(r"isinstance\([^)]*\b(Box|Interval|SpaceTime)\b")
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if guess.search(path.read_text(encoding="utf-8"))
    }
    assert not {f for f in found if not f.startswith(tuple(BY_KIND))}
    assert guess.search("if isinstance(problem.domain, Box):")
