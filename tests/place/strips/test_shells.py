"""Shells along surfaces: maps, how they join, layers inside balls."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.adaptor import Patches
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.bases.legendre import product_points
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.bases.star_charts import shell_of
from sharpfront.geometry.star_surface import squares_of
from sharpfront.geometry.surfaces import Surface
from sharpfront.maps import AxisMap, Shell
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.refine import Limits, refined
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.place.strips.collars import collared
from sharpfront.place.tiling.tiling import tiling_of

BALL = sf.Ball((0.3, -0.2, 0.1), 2.0)


def shells_of(domain, depth):
    (surface,) = tiling_of(domain).blocks[0].region.surfaces
    return [shell_of(square, depth) for square in squares_of(surface)]


def test_shells_of_a_ball_lie_between_two_spheres():
    shells = shells_of(BALL, 0.3)
    rng = np.random.default_rng(0)
    for shell in shells[::7]:
        at = rng.random((50, 3)) * shell.size
        away = np.linalg.norm(shell.points(at) - np.array(BALL.centre), axis=1)
        np.testing.assert_allclose(away, 2.0 - at[:, 2], atol=1e-12)
        np.testing.assert_allclose(shell.inverse(shell.points(at)), at, atol=1e-9)


def test_shells_cover_the_surface_and_share_their_corners():
    shells = shells_of(BALL, 0.3)
    at = [s.edge(axis, end) for s in shells for axis in (0, 1) for end in (0, 1)]
    # Each edge belongs to two of them.
    assert all(at.count(edge) + at.count(edge[::-1]) == 2 for edge in at)
    z, w = np.polynomial.legendre.leggauss(12)
    area = 0.0
    for shell in shells:
        on = product_points([0.5 * (1 + z) * x for x in shell.lengths])
        patch = Patch(tuple(AxisMap(0.0, float(x)) for x in shell.size), (2, 2, 2), shell)
        dense = patch.densities(np.insert(on, 2, 0.0, axis=1))
        area += np.outer(w, w).ravel() @ dense * np.prod(shell.lengths) / 4
    assert area == pytest.approx(16 * np.pi, rel=1e-10)


@pytest.mark.parametrize("decays", [0.0, 8.0])
def test_derivatives_in_a_shell_are_those_in_space(decays):
    shell = shells_of(BALL, 0.3)[3]
    along = tuple(AxisMap(0.0, x) for x in shell.lengths)
    sides = (*along, AxisMap(0.0, shell.depth, decays=decays))
    basis = PatchworkBasis((Patch(sides, (9, 9, 9), shell),))
    rng = np.random.default_rng(1)
    points = shell.points(rng.random((900, 3)) * shell.size)
    weights = np.linalg.lstsq(
        basis.matrix(points, (0, 0, 0)), np.sin(points @ [0.5, 0.3, -0.4]), rcond=None
    )[0]
    inner = shell.points((0.2 + 0.6 * rng.random((50, 3))) * shell.size)
    at = inner @ [0.5, 0.3, -0.4]
    np.testing.assert_allclose(basis.values(weights, inner, (1, 0, 1)), 0.2 * np.sin(at), atol=1e-3)
    again = restore_patchwork(basis.state())
    np.testing.assert_array_equal(
        again.values(weights, inner, (0, 1, 0)), basis.values(weights, inner, (0, 1, 0))
    )


def test_surfaces_that_end_in_edges_have_no_squares():
    half = tiling_of(sf.Ball((0, 0, 0), 1) & sf.HalfSpace((0, 0, 0), (1, 1, 0)))
    assert all(squares_of(s) is None for s in half.blocks[0].region.surfaces)


def test_the_hole_in_a_box_is_seen_with_normals_out_of_the_solid():
    solid = sf.Box((-1, 1), (-1, 1), (-1, 1)) - sf.Ball((0, 0, 0), 0.25)
    surfaces: list[Surface] = [
        s for s in tiling_of(solid).blocks[0].region.surfaces if s.wall is None
    ]
    (squares,) = [squares_of(s) for s in surfaces]
    shell: Shell = shell_of(squares[0], 0.1)
    at = np.random.default_rng(2).random((20, 3)) * shell.size
    away = np.linalg.norm(shell.points(at), axis=1)
    np.testing.assert_allclose(away, 0.25 + at[:, 2], atol=1e-12)


def hollowed(solid):
    """Return a problem with layers of 1e-2 all around a solid."""
    return sf.Problem(
        solid,
        lambda u, x, y, z: -(1e-2**2) * sf.laplacian(u) + u - 1,
        boundary=lambda u, x, y, z: u,
    )


def test_both_spheres_of_a_hollow_ball_have_shells():
    problem = hollowed(sf.Ball((0, 0, 0), 1) - sf.Ball((0.1, 0.2, 0), 0.4))
    tiling = collared(problem, tiling_of(problem.domain), SETTINGS, 1e-2)
    on = np.concatenate(
        [b.chart.points(np.zeros((1, 3))) for b in tiling.blocks if isinstance(b.chart, Shell)]
    )
    for centre, radius in [((0, 0, 0), 1.0), ((0.1, 0.2, 0), 0.4)]:
        assert np.sum(np.abs(np.linalg.norm(on - centre, axis=1) - radius) < 1e-12) == 24
    assert len(on) == 48


@pytest.mark.parametrize(("steeper", "decays"), [(0.0, 10.605), (0.5, 0.0)])
def test_shells_know_how_layers_decay_where_they_do_so_everywhere_alike(steeper, decays):
    problem = sf.Problem(
        sf.Ball((0, 0, 0), 1),
        lambda u, x, y, z: -(1e-2**2) * sf.laplacian(u) + (1 + steeper * x) * u - 1,
        boundary=lambda u, x, y, z: u,
    )
    tiling = collared(problem, tiling_of(problem.domain), SETTINGS, 1e-2)
    (known,) = {b.decays for b in tiling.blocks if isinstance(b.chart, Shell)}
    assert known == pytest.approx(decays, abs=1e-2)


def test_shells_around_a_hole_leave_the_rest_of_a_box_to_boxes():
    problem = hollowed(sf.Box((-1, 1), (-1, 1), (-1, 1)) - sf.Ball((0.1, 0.2, 0), 0.4))
    cells = Patches().start(problem, 1e-2, 0, layered=False).cells
    assert sum(isinstance(c.patch.chart, Shell) for c in cells) == 24
    boxes = [c.patch for c in cells if c.patch.chart is None]
    ends = np.array([[p.low, p.high] for p in boxes])
    assert ends.min() == -1 and ends.max() == 1


def test_shells_that_hold_one_layer_get_more_functions_together():
    shells = shells_of(BALL, 0.3)[:3]
    maps = [(*(AxisMap(0.0, x) for x in s.lengths), AxisMap(0.0, 0.3, decays=8.0)) for s in shells]
    cells = [Cell(Patch(m, (9, 9, 6), s)) for m, s in zip(maps, shells, strict=True)]
    tail = np.array([[1e-3, 1e-3, 1e-9], [1e-9, 1e-9, 1e-9], [1e-9, 1e-9, 1e-9]])
    endless = np.full_like(tail, np.inf)
    tails = Tails(tail, endless, np.zeros((3, 3), dtype=bool), tail, tail)
    after, changed = refined(cells, tails, 1e-6, 0.1, Limits(9, 14, 7), (None, None, None))
    assert changed
    assert [c.patch.functions for c in after] == [(11, 11, 6)] * 3


def layer(width):
    """Return a problem whose solution is smooth, where layers of a width may be."""

    def smooth(x, y, z):
        return np.exp(0.5 * x) * np.cos(0.4 * y + 0.3 * z)

    def equation(u, x, y, z):
        # The Laplacian of the solution is (0.25 - 0.16 - 0.09) of it: nothing.
        return -(width**2) * sf.laplacian(u) + u - smooth(x, y, z)

    ball = sf.Ball((0, 0, 0), 1)
    return sf.Problem(ball, equation, boundary=lambda u, x, y, z: u - smooth(x, y, z)), smooth


@pytest.mark.slow
def test_a_smooth_solution_goes_on_from_shells_to_the_box_inside():
    problem, smooth = layer(1e-2)
    adaptor = Patches()
    state = adaptor.start(problem, 1e-3, 0, layered=False)
    charted = [c.patch.chart for c in state.cells if c.patch.chart is not None]
    assert len(charted) == 24
    patches = tuple(c.patch for c in state.cells)
    system = patch_system(state.rows, state.tiling, patches)
    method = adaptor.leastsquares
    weights = method.solve(method.factor(system), system.rhs)[0]
    basis = PatchworkBasis(patches)
    way = np.random.default_rng(3).standard_normal((60, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    for away in (1.0, 0.97, 0.8, 0.3):
        points = away * way
        found = basis.values(np.asarray(weights)[: basis.size], points, (0, 0, 0))
        assert np.abs(found - smooth(*points.T)).max() < 1e-2


@pytest.mark.parametrize("width, looked", [(3.0, 0), (1e-2, 1)])
def test_surfaces_are_looked_at_only_where_a_layer_may_be_thin(monkeypatch, width, looked):
    seen = []

    def squares(surface):
        seen.append(surface)

    monkeypatch.setattr("sharpfront.place.strips.shells.squares_of", squares)
    problem = sf.Problem(
        BALL,
        lambda u, x, y, z: -(width**2) * sf.laplacian(u) + u - 1,
        boundary=lambda u, x, y, z: u,
    )
    collared(problem, tiling_of(BALL), SETTINGS, 1e-3)
    assert len(seen) == looked
