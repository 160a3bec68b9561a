"""Tests mirror the source: a file for a module in its place, or for what a room does as a whole."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE, TESTS = ROOT / "src" / "sharpfront", ROOT / "tests"
# What no room does alone.
TOGETHER = {"accuracy", "docs", "examples"}
FILES = [
    path.relative_to(TESTS)
    for path in sorted(TESTS.rglob("test_*.py"))
    if path.relative_to(TESTS).parts[0] not in TOGETHER
]


def folders_of(path):
    """Return where in its room modules and rooms stand that a test file is named after."""
    room, name = SOURCE / path.parts[0], path.stem.removeprefix("test_")
    if len(path.parts) == 1:
        return [SOURCE]
    rooms = [p for p in (room, *room.rglob("*/")) if p.name == name and p.is_dir()]
    return [p.parent for p in room.rglob(f"{name}.py")] + rooms + [p.parent for p in rooms]


def modules_used(path):
    """Return the modules of its room, and the room itself, that a test file takes names from."""
    found = set()
    for node in ast.walk(ast.parse((TESTS / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(_room(path)):
            inner = {f"{node.module}.{a.name}" for a in node.names}
            modules = {name for name in inner if _file(name).exists()}
            found |= modules | ({node.module} if inner - modules else set())
    return {name for name in found if not name.endswith(".settings")}


def _room(path):
    return f"sharpfront.{path.parts[0]}."


def _file(module):
    return SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_stands_where_what_it_is_named_after_does(path):
    assert (SOURCE / path.parent).is_dir()
    folders = folders_of(path)
    assert not folders or SOURCE / path.parent in folders


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_that_tests_one_module_has_its_name(path):
    """One that solves problems, or names what the room itself offers, asks more than that."""
    used = modules_used(path)
    solves = ".solve(" in (TESTS / path).read_text(encoding="utf-8")
    if len(used) == 1 and _file(min(used)).exists() and not solves:
        assert folders_of(path), f"it tests {min(used)} alone"
