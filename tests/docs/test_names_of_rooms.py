"""In one room a name has one meaning: one module defines it, private names too."""

import ast
import functools
import itertools
import runpy
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sharpfront"
HOUSE = runpy.run_path(str(ROOT / "benchmarks" / "house.py"))
# Rooms with names of two modules still: there only those that are public differ everywhere.
NAMED_TWICE = ["evolve"]
ROOMS = {path.parent.name for path in SOURCE.glob("*/__init__.py")}


@functools.cache
def defined_twice():
    return HOUSE["defined_twice"]()


@pytest.mark.parametrize("room", sorted(ROOMS - {*NAMED_TWICE}))
def test_one_module_defines_a_name(room):
    assert defined_twice()[room] == {}


def test_names_of_all_kinds_are_seen():
    text = "FAR: int = 1\nLOW, (_HIGH, *REST) = 1, (2,)\nclass A: ...\ndef _f(): ...\n__all__ = []"
    assert HOUSE["names_defined"](text) == {"FAR", "LOW", "_HIGH", "REST", "A", "_f"}


def meanings(text):
    """Yield names of classes, public functions and constants with what they stand for."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            if isinstance(node, ast.ClassDef) or not node.name.startswith("_"):
                yield node.name, object()
        elif isinstance(node, ast.Assign):
            for target, value in itertools.chain(*(assigned(t, node.value) for t in node.targets)):
                if isinstance(target, ast.Name) and not target.id.startswith("__"):
                    yield target.id, ast.unparse(value)


def assigned(target, value):
    """Return targets with their values, one by one where there are several."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


@pytest.mark.parametrize("room", NAMED_TWICE)
def test_a_name_has_one_meaning(room):
    found = defaultdict(set)
    for module in (SOURCE / room).rglob("*.py"):
        for name, meaning in meanings(module.read_text(encoding="utf-8")):
            found[name].add(meaning)
    assert [n for n, kinds in found.items() if len(kinds) > 1] == []


def test_two_meanings_are_seen():
    one, other = (dict(meanings(f"LOST, FAR = {n}, {n}\nclass A: ...")) for n in (1, 2))
    assert one.keys() == other.keys() == {"LOST", "FAR", "A"}
    assert all(one[name] != other[name] for name in one)
