"""Every problem is a file, which says what it leaves out."""

import tomllib

import pytest

from sharpfront.catalog import formulas, listing, named

UNKNOWN = {"allen-cahn-in-time", "korteweg-de-vries", "kuramoto-sivashinsky", "gray-scott"}
UNKNOWN |= {"cavity"}


@pytest.mark.parametrize("name", sorted({*UNKNOWN, *formulas.EXACT} - {"hump"}))
def test_a_file_says_what_it_leaves_out(name):
    first = named(name).file.splitlines()[0]
    assert first.startswith("#")
    assert "exact solution" in first or "No formula" in first


def test_only_what_cannot_be_written_has_no_file():
    assert [name for name, entry in listing().items() if entry.file is None] == ["hump"]
    assert {name for name, entry in listing().items() if not entry.has_exact} == UNKNOWN


@pytest.mark.parametrize("name", listing())
def test_what_is_shown_has_nothing_of_the_catalogue(name):
    entry = named(name)
    assert "catalog" not in tomllib.loads(entry.file or "")
    assert entry.statement and entry.title


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_the_hypercube_has_any_number_of_dimensions(count):
    problem, exact = named("hypercube").problem(count), named("hypercube").exact(count)
    assert problem.domain.dimension == count
    assert exact(*[1 / 3] * count) == pytest.approx(count / 2)
    assert named("hypercube").stated(count).parameters == {"dimensions": count}


def test_the_surface_of_a_solid_is_made_by_the_recipe_of_its_file():
    pytest.importorskip("trimesh")
    for name in formulas.SURFACES:
        recipe = [line for line in named(name).file.splitlines() if line.startswith("#   ")]
        assert f'mesh.export("{name}.stl")' in recipe[-1]
        assert named(name).problem(1.0).domain.dimension == 3


@pytest.mark.parametrize("name", listing())
def test_every_entry_says_what_to_start_from(name):
    """Races ask for it, also of entries that no file states."""
    entry = named(name)
    assert (entry.guess is not None) == ("guess =" in entry.text)
