"""In one room a name has one meaning: no two modules define it differently."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sharpfront"
# In these rooms some names still have two meanings.
NOT_YET = {"adapt", "evolve", "leastsquares", "pieces", "rows"}
ROOMS = sorted({p.parent.name for p in SOURCE.glob("*/__init__.py")} - NOT_YET)


def meanings(text):
    """Yield names of classes, public functions and constants with what they stand for."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            if isinstance(node, ast.ClassDef) or not node.name.startswith("_"):
                yield node.name, object()
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and not target.id.startswith("__"):
                    yield target.id, ast.unparse(node.value)


@pytest.mark.parametrize("room", ROOMS)
def test_a_name_has_one_meaning(room):
    found = defaultdict(set)
    for module in (SOURCE / room).rglob("*.py"):
        for name, meaning in meanings(module.read_text(encoding="utf-8")):
            found[name].add(meaning)
    # Each command of the command line has an application of that name, as typer wants it.
    assert [n for n, kinds in found.items() if len(kinds) > 1 and n != "app"] == []


def test_two_meanings_are_seen():
    one, other = dict(meanings("LOST = 1\nclass A: ...")), dict(meanings("LOST = 2\nclass A: ..."))
    assert one.keys() == other.keys() == {"LOST", "A"}
    assert all(one[name] != other[name] for name in one)
