"""What is loaded when, and that names are what they say."""

import subprocess
import sys

import numpy as np
import pytest

import sharpfront
from sharpfront.geometry.sampling import sobol

LINE = """
import sharpfront as sf
problem = sf.Problem(sf.Interval(0, 1), lambda u, x: -0.01 * u.dxx + u.dx, boundary=lambda u, x: u)
assert sf.solve(problem, tol=1e-4).converged
"""
IN_TIME = """
import sharpfront as sf
problem = sf.Problem(sf.Interval(0, 1), lambda u, x, t: u.dt - u.dxx, boundary=lambda u, x, t: u,
                     initial=lambda x: x * (1 - x), time=(0, 0.01))
assert sf.solve(problem, tol=1e-2).converged
"""


def loaded(code):
    """Return the modules that a fresh process has after running code."""
    code += "\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_loads_nothing_and_a_line_loads_no_more_than_it_needs():
    assert not loaded("import sharpfront") & {"numpy", "scipy", "sharpfront.problem"}
    rooms = loaded(LINE)
    assert "sharpfront.adapt.resolve" in rooms
    parts = {f"scipy.{name}" for name in ("stats", "optimize", "spatial", "interpolate")}
    others = {
        f"sharpfront.{name}" for name in ("evolve", "newton", "show.figures", "adapt.patchwork")
    }
    assert not rooms & (parts | others)


def test_time_on_a_line_loads_nothing_of_the_plane():
    rooms = loaded(IN_TIME)
    assert "sharpfront.evolve.march" in rooms
    others = ("adapt.patchwork", "evolve.patchwork", "evolve.plane", "leastsquares.dissection")
    assert not rooms & {f"sharpfront.{name}" for name in others}


@pytest.mark.parametrize("room", ["solve", "fit", "show.export", "fit.sweep", "show"])
def test_a_function_keeps_its_name_when_its_room_is_loaded(room):
    name = room.rpartition(".")[2]
    code = f"import sharpfront.{room}; from sharpfront import {name}; import sharpfront as sf\n"
    code += f"import types; assert isinstance(sf.{name}, types.ModuleType) == ({name!r} == 'show')"
    loaded(code)


def test_every_name_is_found_and_listed():
    names = {}
    exec("from sharpfront import *", names)
    assert set(sharpfront.__all__) <= set(names) & set(dir(sharpfront))
    assert all(names[n] is getattr(sharpfront, n) for n in sharpfront.__all__)
    assert sharpfront.errors.SharpfrontError is sharpfront.SharpfrontError
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        _ = sharpfront.sovle


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 10, 11])
@pytest.mark.parametrize(("power", "seed"), [(0, 0), (1, 3), (7, 0), (10, 12)])
def test_points_of_sobols_sequence_are_those_of_scipy(dimension, power, seed):
    from scipy.stats import qmc

    expected = qmc.Sobol(dimension, rng=seed).random_base2(power)
    found = sobol(power, dimension, np.random.default_rng(seed))
    np.testing.assert_array_equal(found, expected)
