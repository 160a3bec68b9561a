"""Layers of several widths at one wall: a strip for each, and cuts that leave their functions."""

import itertools
import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell, parts_of
from sharpfront.place.patches.first_patches import first_cells
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.waves import Waves
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))
TOL = 1e-4


def two_species(first, second):
    return sf.Problem(
        SQUARE,
        lambda u, v, x, y: (
            -(first**2) * sf.laplacian(u) + 2 * u - v - 1,
            -(second**2) * sf.laplacian(v) + 2 * v - u - x,
        ),
        boundary=lambda u, v, x, y: (u, v),
    )


def sides_and_functions(problem):
    """Return the sides of the first cells along x and their most functions, from left to right."""
    tiling = tiling_of(problem.domain)
    cells = first_cells(problem, tiling, SETTINGS, TOL, 30_000, Waves.of(problem, tiling))
    most: dict[tuple[float, float], int] = {}
    for cell in cells:
        m = cell.patch.maps[0]
        most[m.low, m.high] = max(most.get((m.low, m.high), 0), cell.patch.functions[0])
    return zip(*sorted(most.items()), strict=True)


@pytest.mark.parametrize("second", [1e-2, 2e-3])
def test_layers_of_two_widths_have_a_strip_each(second):
    sides, functions = sides_and_functions(two_species(1e-4, second))
    depth = SETTINGS.layer(TOL)
    assert len(sides) == 5 and all(a[1] == b[0] for a, b in itertools.pairwise(sides))
    # About the wide one the thin one is gone: u = v/2 + ..., and what is left of v reacts by 1.5.
    assert sides[0][1] == pytest.approx(depth * 1e-4 / 2**0.5, rel=1e-2)
    assert sides[1][1] == pytest.approx(depth * second / 1.5**0.5, rel=1e-2)
    assert functions[0] == functions[1] == math.ceil(depth) > functions[2]
    assert functions[:2] == functions[:2:-1]


def test_layers_of_one_width_that_varies_along_the_wall_have_one_strip():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-6 * sf.laplacian(u) + (0.01 + y**2) * u - 1,
        boundary=lambda u, x, y: u,
    )
    sides, functions = sides_and_functions(problem)
    assert len(sides) == 3 and functions[0] > functions[1]


def test_both_sides_of_a_line_on_which_data_jump_have_a_strip():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-5 * sf.laplacian(u) + u - np.where(x < 0.35, 1, -1) * (1 + y),
        boundary=lambda u, x, y: u.dn,
    )
    sides, functions = sides_and_functions(problem)
    beside = [side for side, count in zip(sides, functions, strict=True) if count > functions[1]]
    depth = SETTINGS.layer(TOL) * 1e-5**0.5
    inner = [side for side in beside if 0.35 in side]
    assert len(sides) == 6 and len(beside) == 4
    assert np.allclose(inner, [(0.35 - depth, 0.35), (0.35, 0.35 + depth)])


def test_what_is_left_beside_a_part_cut_off_keeps_its_functions():
    whole = Cell(Patch((AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (16, 9)))
    beside = np.array([[0.01, math.inf], [math.inf, math.inf]])
    both = np.array([True, True])
    parts = parts_of(whole, both, np.array([8, 8]), 1.0, beside)
    found = {p.patch.maps[0].length: p.patch.functions for p in parts}
    assert found == {0.025: (8, 8), 0.975: (16, 8)}


def test_two_thin_layers_at_two_walls_are_solved():
    first, second = 1e-4, 1e-2

    def u0(x, y):
        return np.exp(-x / first) + np.cos(y)

    def v0(x, y):
        return np.exp((y - 1) / second) + x * y

    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (
            -(first**2) * sf.laplacian(u) + u - (1 + first**2) * np.cos(y) - (v - v0(x, y)) / 2,
            -(second**2) * sf.laplacian(v) + v - x * y - x * (u - u0(x, y)) / 2,
        ),
        boundary=lambda u, v, x, y: (u - u0(x, y), v - v0(x, y)),
    )
    solution = sf.solve(problem, tol=1e-5)
    s = np.concatenate([np.geomspace(1e-6, 0.5, 40), 1 - np.geomspace(1e-6, 0.5, 40)])
    x, y = np.meshgrid(s, s)
    error = max(
        np.abs(solution.u(x, y) - u0(x, y)).max(), np.abs(solution.v(x, y) - v0(x, y)).max()
    )
    assert solution.converged and solution.kernels < 17_000
    assert error < 1e-5 and error < 1.5 * solution.error_estimate
