"""Functions of corners where layers are thin: they fade where the layers end."""

from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.adaptor import Patches
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.bases.corner_functions import restored, tabulated
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.refine import Limits, refined
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.place.tiling.tiling import tiling_of

NONE = np.zeros((0, 2))
NO_TAILS = Tails(NONE, NONE, NONE > 0, NONE, NONE)
ELL = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))


def layered(domain, eps=1e-6, wind=0.0):
    return sf.Problem(
        domain,
        lambda u, x, y: -eps * sf.laplacian(u) + wind * u.dx + u - 1,
        boundary=lambda u, x, y: u,
    )


def into(corner, width, count=400):
    """Return points of a plane about a corner, from a millionth of a layer's width on."""
    draw = np.random.default_rng(4)
    r, t = width * 10 ** draw.uniform(-6, 2, count), draw.uniform(0, 2 * np.pi, count)
    return np.array(corner) + np.stack([r * np.cos(t), r * np.sin(t)], axis=1)


@pytest.mark.parametrize("eps", [1e-5, 1e-8])
def test_a_layer_around_a_corner_that_points_inwards_takes_one_solve(eps):
    problem = layered(ELL, eps)
    solution, closer = (sf.solve(problem, tol=tol) for tol in (1e-2, 1e-3))
    points = np.concatenate([into((0, 0), eps**0.5), into((1, 1), eps**0.5)])
    points = points[problem.domain.contains(points)]
    error = float(np.abs(solution(*points.T) - closer(*points.T)).max())
    assert solution.converged and closer.converged
    assert error <= 2 * solution.error_estimate + closer.error_estimate
    assert len(closer.history) == 1 and closer.kernels < 6500


def test_fading_functions_find_what_cuts_find(monkeypatch):
    problem = layered(sf.Box((0, 1), (0, 1)), 1e-4)
    solution = sf.solve(problem, tol=1e-4)
    monkeypatch.setattr(Wedges, "functions", ())
    cut = sf.solve(problem, tol=1e-4)
    points = into((0, 0), 1e-2)
    points = points[problem.domain.contains(points)]
    error = float(np.abs(solution(*points.T) - cut(*points.T)).max())
    assert error <= solution.error_estimate + cut.error_estimate
    assert solution.kernels < 0.6 * cut.kernels


def test_derivatives_of_functions_that_fade_and_their_files():
    problem = layered(ELL, 1e-4)
    corners = Wedges(problem, tiling_of(ELL), 1e-4).functions
    points, h = into((0, 0), 3e-3), 1e-7
    points = points[(np.abs(points).max(axis=1) > 1e-3) & ELL.contains(points)]
    assert len(points) > 30 and all(own.fades for own in corners)
    for below, step in (((0, 0), (h, 0)), ((0, 1), (h, 0)), ((0, 1), (0, h))):
        orders = tuple(k + (s > 0) for k, s in zip(below, step, strict=True))
        two = [tabulated(corners, points + k * np.array(step), below) for k in (1, -1)]
        found = tabulated(corners, points, orders)
        size = np.abs(found).max()
        np.testing.assert_allclose(found, (two[0] - two[1]) / (2 * h), atol=1e-5 * size)
    for own in corners:
        again = restored(own.state())
        np.testing.assert_array_equal(again.values(points, (1, 1)), own.values(points, (1, 1)))


def test_what_functions_of_tangents_leave_is_cut_once_before_they_are_given_up():
    domain = sf.Disk((0, 0), 1) & sf.Box((0, 2), (0, 2))
    state = Patches().start(layered(domain), 1e-3, 0).with_functions
    tails = replace(NO_TAILS, tail=np.ones((len(state.cells), 2)))
    cut = state.beyond_functions(tails)
    assert cut.rows.functions and len(cut.cells) > len(state.cells) and not cut.idle
    tails = replace(NO_TAILS, tail=np.ones((len(cut.cells), 2)))
    assert not cut.beyond_functions(tails).rows.functions


def test_boxes_behind_strips_hold_no_functions_of_corners():
    domain = sf.Disk((0, 0), 1) & sf.Box((0, 2), (0, 2))
    before = Patches().start(layered(domain), 1e-3, 0)
    pairs = list(zip(before.cells, before.with_functions.cells, strict=True))
    richer = [a.patch.size < b.patch.size for a, b in pairs]
    assert sum(richer) == 6  # two strips at each of three corners
    assert not any(more and a.patch.region for more, (a, _) in zip(richer, pairs, strict=True))


def test_corners_of_holes_have_functions_that_fade_inside_the_hole():
    plate = sf.Box((0, 3), (0, 3)) - sf.Box((1, 2), (1, 2))
    near, far = (Wedges(layered(plate, e), tiling_of(plate), 1e-4).functions for e in (1e-5, 1e-1))
    of_hole = [[own for own in found if 0 < own.place[0] < 3] for found in (near, far)]
    assert [len(found) for found in of_hole] == [4, 4]
    # Wide ones are cut off behind the hole.
    assert all(own.fades and own.support is None for own in of_hole[0])
    assert all(not own.fades and own.support is not None for own in of_hole[1])


def test_there_are_none_where_winds_are_stronger_or_layers_end_elsewhere():
    windy = layered(ELL, 1e-4, wind=0.1)
    assert not Wedges(windy, tiling_of(ELL), 1e-4).functions
    uneven = sf.Problem(
        ELL,
        lambda u, x, y: -1e-4 * sf.laplacian(u) + (x + 1.0) ** 4 * u - 1,
        boundary=lambda u, x, y: u,
    )
    places = {own.place for own in Wedges(uneven, tiling_of(ELL), 1e-4).functions}
    assert (0.0, 0.0) in places and (-1.0, 1.0) not in places


@pytest.mark.parametrize("turned", [False, True])
def test_patches_end_where_the_layer_around_an_inward_corner_does(turned):
    eps, tol = 1e-6, 1e-4
    if turned:
        ends = [(0, 0), (1, -1), (2, 0), (0, 2), (-2, 0), (-1, -1)]
        domain = sf.Polygon(ends)
    else:
        domain = ELL
    cells = Patches().start(layered(domain, eps), tol, 0).cells
    deep = SETTINGS.layer(tol) * eps**0.5
    sizes = []
    for cell in cells:
        corners = cell.patch.points([np.array([-1.0, 1.0])] * 2)
        if np.abs(corners).max(axis=1).min() < 1e-12:
            sizes.append(float(np.ptp(corners, axis=0).max()))
    assert len(sizes) >= 2 and max(sizes) < 2.5 * deep


def test_patches_in_which_layers_meet_get_a_few_functions_more_before_they_are_cut():
    cell = Cell(Patch((AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (32, 32)))
    limits = Limits(base=10, most=20, least=6)
    for wanted, count in ((34.0, 1), (39.0, 2)):
        tails = np.array([[3e-6, 3e-6]])
        found = Tails(tails, np.full((1, 2), wanted), np.full((1, 2), True), tails, tails)
        cells, changed = refined([cell], found, 1e-6, 0.1, limits, [None, None], np.zeros((0, 2)))
        assert changed and (len(cells) > 1) == (count > 1)
