"""A problem file with other values says the same otherwise, comments and all."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharpfront.catalog import listing
from sharpfront.errors import ProblemError
from sharpfront.problem_file.rewrite import with_values

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SHAPES = [
    "[parameters]\nnu = 1e-4  # width\nc = 'a # b'\n[solve]\ntol = 1e-6\nseed = 3\n",
    'parameters = {nu = 1e-4, c = "2, }"}  # both\n',
    "parameters.nu = 1e-4\r\nparameters.c = 2\r\n[solve]  # how\r\nseed = 1",
    'title = "nu = 3"\n[parameters]\n"nu" = 1\nc = """\nnu = 5\n"""\n[domain]\ninterval = [0, 1]',
]


@given(st.sampled_from(SHAPES), NUMBERS, st.one_of(NUMBERS, st.text("ab \"'\\#", max_size=5)))
def test_values_change_and_nothing_else(source, nu, c):
    before = tomllib.loads(source)
    found = tomllib.loads(with_values(source, {"nu": nu, "c": c}))
    assert found == before | {"parameters": {"nu": nu, "c": c}}


@given(st.sampled_from(SHAPES), st.floats(1e-14, 0.5))
def test_a_tolerance_is_changed_or_added(source, tol):
    before = tomllib.loads(source)
    text = with_values(source, {}, tol)
    assert tomllib.loads(text) == before | {"solve": before.get("solve", {}) | {"tol": tol}}
    assert all(note in text for note in ("# width", "# both", "# how") if note in source)


def test_files_of_the_catalogue_can_be_written_again():
    for listed in listing().values():
        stated = tomllib.loads(listed.file or "").get("parameters", {})
        for name in stated:
            text = with_values(listed.file, {name: 0.125}, 1e-3)
            assert tomllib.loads(text)["parameters"] == stated | {name: 0.125}


@pytest.mark.parametrize("source", ["solve.seed = 3\n[parameters]\nnu = 1\n", "solve = {seed = 3}"])
def test_what_cannot_be_written_is_refused(source):
    with pytest.raises(ProblemError, match="tol"):
        with_values(source, {}, 1e-3)
