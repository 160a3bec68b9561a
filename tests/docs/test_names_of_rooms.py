"""In one room a name has one meaning: no two modules define it differently."""

import ast
import itertools
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sharpfront"
ROOMS = sorted(p.parent.name for p in SOURCE.glob("*/__init__.py"))


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


@pytest.mark.parametrize("room", ROOMS)
def test_a_name_has_one_meaning(room):
    found = defaultdict(set)
    for module in (SOURCE / room).rglob("*.py"):
        for name, meaning in meanings(module.read_text(encoding="utf-8")):
            found[name].add(meaning)
    # Each command of the command line has an application of that name, as typer wants it.
    assert [n for n, kinds in found.items() if len(kinds) > 1 and n != "app"] == []


def test_two_meanings_are_seen():
    one, other = (dict(meanings(f"LOST, FAR = {n}, {n}\nclass A: ...")) for n in (1, 2))
    assert one.keys() == other.keys() == {"LOST", "FAR", "A"}
    assert all(one[name] != other[name] for name in one)
