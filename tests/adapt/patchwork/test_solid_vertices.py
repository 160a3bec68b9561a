"""Functions of the vertices of solids made of boxes: where there are any, what is solved."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.solid_vertices import vertex_functions
from sharpfront.bases.local_functions import HeldFunctions
from sharpfront.place.tiling.tiling import tiling_of

CUBE = sf.Box((0, 1), (0, 1), (0, 1))
ONE_OUT = sf.Box((-1, 1), (-1, 1), (-1, 1)) - sf.Box((0, 2), (0, 2), (0, 2)).named("inner")
# -lap u = 1 with u = 0 all round: the middle of the cube, by series.
MIDDLE = 0.0562128298


def heated(solid, **conditions):
    given = {"boundary": lambda u, x, y, z: u} | conditions
    return sf.Problem(solid, lambda u, x, y, z: -sf.laplacian(u) - 1, **given)


def test_vertices_whose_cone_does_not_hold_the_domain_have_theirs_beside_them():
    found = vertex_functions(heated(CUBE), tiling_of(CUBE), 1e-3)
    assert [own.size for own in found] == [1] * 8
    found = vertex_functions(heated(ONE_OUT), tiling_of(ONE_OUT), 1e-3)
    sizes = {own.place: own.size for own in found}
    assert len(sizes) == 14 and sizes[0.0, 0.0, 0.0] > 5
    held = {own.place: len(own.support) for own in found if isinstance(own, HeldFunctions)}
    assert held == {
        **dict.fromkeys([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)], 3),
        **dict.fromkeys([(1.0, 1.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0)], 1),
    }


def test_none_where_fluxes_are_given_or_conductivities_differ():
    flux = {"inner": lambda u, x, y, z: u.dn}
    assert not vertex_functions(heated(ONE_OUT, **flux), tiling_of(ONE_OUT), 1e-3)
    uneven = sf.Problem(
        CUBE, lambda u, x, y, z: -u.dxx - u.dyy - 2 * u.dzz - 1, boundary=lambda u, x, y, z: u
    )
    assert not vertex_functions(uneven, tiling_of(CUBE), 1e-3)


def test_a_cube_that_is_heated():
    solution = sf.solve(heated(CUBE), tol=1e-4)
    assert solution.converged
    assert abs(solution(0.5, 0.5, 0.5) - MIDDLE) < 1e-6
    # Functions of edges alone took 3736.
    assert solution.kernels < 2000


@pytest.mark.slow
def test_a_cube_without_an_octant():
    """Against r^0.454 g(direction), u = 0 on the inner faces, and something smooth."""
    tiling = tiling_of(ONE_OUT)
    (own,) = [f for f in vertex_functions(heated(ONE_OUT), tiling, 1e-8) if not any(f.place)]

    def exact(x, y, z):
        points = np.column_stack([np.ravel(v) for v in np.broadcast_arrays(x, y, z)])
        found = 2 * own.values(points, (0, 0, 0))[:, 0] + points[:, 0] * points[:, 2]
        return found.reshape(np.shape(x))

    given = sf.function(exact)
    problem = sf.Problem(
        ONE_OUT,
        lambda u, x, y, z: sf.laplacian(u),
        boundary=lambda u, x, y, z: u - given(x, y, z),
        inner=lambda u, x, y, z: u - x * z,
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    x = np.random.default_rng(0).uniform(-1, 1, (500, 3)) * np.geomspace(1e-6, 1, 500)[:, None]
    x = x[ONE_OUT.contains(x)]
    assert np.abs(solution(*x.T) - exact(*x.T)).max() < 1e-5


@pytest.mark.slow
def test_edges_that_end_at_a_vertex():
    """-lap u = 1 on a cube without an octant; differences on grids gave 0.10941."""
    solution = sf.solve(heated(ONE_OUT), tol=1e-4)
    assert solution.converged and solution.kernels < 3000
    assert abs(solution(-0.5, -0.5, -0.5) - 0.1094227) < 2e-6
    # The three inner edges are alike, and so is what is found beside them.
    s, r = np.linspace(0.05, 0.95, 7), np.geomspace(1e-5, 0.3, 7)
    along = [solution(s, -r, 0.7 * r), solution(-r, s, 0.7 * r), solution(0.7 * r, -r, s)]
    assert np.ptp(along, axis=0).max() < 2e-4


@pytest.mark.slow
def test_a_solution_with_functions_of_some_boxes_is_saved(tmp_path):
    solution = sf.solve(heated(ONE_OUT), tol=1e-2)
    solution.save(tmp_path / "corner.npz")
    again = sf.load(tmp_path / "corner.npz")
    x = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    x = x[ONE_OUT.contains(x)]
    np.testing.assert_array_equal(again(*x.T), solution(*x.T))
