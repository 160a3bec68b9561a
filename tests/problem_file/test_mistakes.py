"""Where keys and values stand in a TOML file."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.catalog import listing
from sharpfront.problem_file.mistakes import Span, line_index

SOURCE = '''# a comment with = and [brackets]
equation = "-u_xx = \\"0\\" # not a comment"   # a comment
equations = [
    "a = 1",   # ] not the end
    'b',
]
"quoted key".b = """
several
lines"""
empty = []
dotted.a.b = 1.5

[domain]
disk = { centre = [0, 1], radius = 2 }

[[domain.difference]]
box = [[0, 1],
       [0, 2]]

[[domain.difference]]
[domain.difference.disk]
centre = [1, 2]   # 1979-05-27
[ conditions . at ]
left = \'\'\'u = ']' \'\'\'
"at.x" = 1979-05-27 07:32:00
'''
EXPECTED = {
    ("equation",): (2, 2),
    ("equations",): (3, 6),
    ("equations", 0): (4, 4),
    ("equations", 1): (5, 5),
    ("quoted key", "b"): (7, 9),
    ("empty",): (10, 10),
    ("dotted", "a", "b"): (11, 11),
    ("dotted",): (11, 11),
    ("domain",): (13, 13),
    ("domain", "disk", "radius"): (14, 14),
    ("domain", "difference", 0): (16, 16),
    ("domain", "difference", 0, "box"): (17, 18),
    ("domain", "difference", 0, "box", 1): (18, 18),
    ("domain", "difference", 1): (20, 20),
    ("domain", "difference", 1, "disk"): (21, 21),
    ("domain", "difference", 1, "disk", "centre"): (22, 22),
    ("conditions", "at"): (23, 23),
    ("conditions", "at", "left"): (24, 24),
    ("conditions", "at", "at.x"): (25, 25),
}


def paths(value, path=()):
    """Yield the paths of all values in a document."""
    if path:
        yield path
    inside = dict(enumerate(value)) if isinstance(value, list) else value
    for key, inner in inside.items() if isinstance(inside, dict) else ():
        yield from paths(inner, (*path, key))


@pytest.mark.parametrize("path", EXPECTED, ids=str)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines(path, ends):
    assert line_index(SOURCE.replace("\n", ends))[path] == Span(*EXPECTED[path])


def test_every_value_has_its_line_and_nothing_else_has():
    assert set(line_index(SOURCE)) == set(paths(tomllib.loads(SOURCE)))


@pytest.mark.parametrize("name", listing())
def test_catalogue(name):
    source = listing()[name].file or ""
    assert set(line_index(source)) == set(paths(tomllib.loads(source)))


TEXTS = st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=8)


def written(value):
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(k)} = {written(v)}" for k, v in value.items()) + "}"
    return repr(value)


VALUES = st.recursive(
    st.integers(-99, 99) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_any_document(document):
    source = "\n".join(f"{written(k)} = {written(v)} # {written(k)}" for k, v in document.items())
    assert tomllib.loads(source) == document
    index = line_index(source)
    assert set(index) == set(paths(document))
    assert [index[(key,)].first for key in document] == list(range(1, len(document) + 1))
