"""Corners of the domain, places where conditions change, slits: cut towards these alone."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.corner_changes import CornerChanges
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches import cuts
from sharpfront.place.patches.around_corners import evened_around
from sharpfront.place.patches.cuts import Cell, cut_as_deep, rings, touching
from sharpfront.place.patches.tails import Tails
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])


def tails_that(cells, tail, analytic):
    shape = (len(cells), 2)
    flags = np.broadcast_to(np.asarray(analytic)[:, None], shape)
    long = np.full(shape, tail)
    return Tails(long, np.full(shape, np.inf), flags, long, long)


def cut_often(levels, corner=(0, 0)):
    """Return a square cut towards one of its corners, whose tail was one before."""
    whole = Cell(Patch((AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (8, 8)))
    return rings(whole, corner, 1.0, [np.array([8, 8])] * (levels + 1))


@pytest.mark.parametrize(("corner", "levels"), [((0, 0), 12), ((1, 0), 15)])
def test_only_the_patch_at_a_corner_is_cut_where_only_it_is_wrong(corner, levels):
    cells = cut_often(levels, corner)
    changes = np.array([1e-9] * (len(cells) - 1) + [1e-4])
    tails = tails_that(cells, 0.5**levels, [*[True] * (len(cells) - 1), False])
    found = CornerChanges.of(cells, changes, tails, SQUARE, 1e-6)
    after = found.deeper(cells, tails, 1e-6, (6, 10), SQUARE)
    # The tail halved with each cut: 200 times less takes eight more.
    assert after[: len(cells) - 1] == cells[:-1] and len(after) == len(cells) + 3 * 8
    assert after[-1].patch.sides.max() == pytest.approx(0.5 ** (levels + 8))


@pytest.mark.parametrize("levels", [1, 4, 8])
def test_a_large_patch_at_a_corner_is_not_taken_for_all_that_is_wrong(levels):
    cells = cut_often(levels)
    tails = tails_that(cells, 0.5**levels, [*[True] * (len(cells) - 1), False])
    found = CornerChanges.of(cells, np.full(len(cells), 1e-2), tails, SQUARE, 1e-6)
    assert not found.at and found.elsewhere == 1e-2


@pytest.mark.parametrize("elsewhere", [2e-6, 1e-3])
def test_nothing_is_cut_at_a_corner_where_others_are_wrong_too(elsewhere):
    cells = cut_often(12)
    changes = np.array([elsewhere] + [1e-9] * (len(cells) - 2) + [1e-4])
    tails = tails_that(cells, 0.5**12, [*[True] * (len(cells) - 1), False])
    found = CornerChanges.of(cells, changes, tails, SQUARE, 1e-6)
    assert found.elsewhere == elsewhere
    assert not found.deeper(cells, tails, 1e-6, (6, 10), SQUARE)


@pytest.mark.parametrize(("left", "enough"), [(0.9e-6, True), (1.1e-6, False)])
def test_nothing_is_cut_at_a_corner_where_weights_of_others_add_up_to_too_much(left, enough):
    cells = cut_often(12)
    changes = np.array([1e-8] * (len(cells) - 1) + [1e-4])
    tails = tails_that(cells, 0.5**12, [False, *[True] * (len(cells) - 2), False])
    tails.tail[0] = left
    found = CornerChanges.of(cells, changes, tails, SQUARE, 1e-6)
    assert found.elsewhere == 1e-8
    assert bool(found.deeper(cells, tails, 1e-6, (6, 10), SQUARE)) == enough


@pytest.mark.parametrize(("held", "jumps"), [((), False), (((0.0, 0.0),), True)])
def test_a_corner_with_functions_is_no_jump_unless_these_jump(held, jumps):
    """What patches hold beside functions is no part of the solution."""
    *_, last = cut_often(9)
    tails = tails_that([last], 1.0, [False])
    found = Jumps(0.1, held=held).with_more([last], tails, 1e-12, [(0.0, 0.0)])
    assert bool(found.places) == jumps
    assert Jumps(0.1).with_more([last], tails, 1e-12, [(1.0, 0.0)]).places == ((0.0, 0.0),)


@pytest.mark.parametrize(
    ("first", "fall", "then", "jumps"),
    # Few cuts in a row count together with those before.
    [(20, 0.5, 2, False), (20, 0.5, 9, True), (3, 0.5, 2, False), (5, 1.0, 4, True)],
)
def test_a_tail_that_stays_over_a_few_cuts_is_no_jump(first, fall, then, jumps):
    """What other patches leave may be all there is of it."""
    *_, last = cut_often(first)
    tail = fall**first
    *_, last = rings(last, (0, 0), tail, [np.array([8, 8])] * (then + 1))
    found = Jumps(0.1).with_more([last], tails_that([last], tail, [False]), 1e-12)
    assert bool(found.places) == jumps


@pytest.mark.parametrize(("fall", "deep"), [(0.89, False), (0.63, True)])
def test_cuts_that_are_foretold_end_before_numbers_do(fall, deep):
    """A tail that other patches disturbed seems to fall so slowly that no cuts would do."""
    *_, last = cut_often(9, (1, 1))
    tail = fall**9
    after = cuts.cut_to_corner(last, np.full(2, tail), 1e-4 * tail, (6, 10), (1, 1))
    assert not any(cuts.is_shortest(cell.patch) for cell in after)
    levels = np.log2(last.patch.sides[0] / after[-1].patch.sides[0])
    assert levels == (np.ceil(np.log(1e-4) / np.log(fall)) if deep else 15)


@pytest.mark.parametrize("place", [-0.3, 0.0, 0.45])
def test_a_place_where_a_condition_changes_is_a_corner(place):
    domain = sf.Box((-1, 1), (0, 1)).part("held", lambda x, y: (y < 1e-12) & (x < place) & (x > -1))
    tiling = tiling_of(domain)
    assert len(tiling.corners) == 5
    assert np.abs(tiling.corners - [place, 0.0]).max(axis=1).min() < 1e-8
    assert all(low < high for _, _, low, high, _ in tiling.blocks[0].walls)


def slit(gap):
    return sf.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (1, -1), (1, -gap)])


@pytest.mark.parametrize("gap", [1e-10, 1e-9, 1e-4])
def test_the_sides_of_a_slit_are_two_walls_in_charts(gap):
    """They lie in one place but for rounding: boxes on both sides would be joined."""
    tiling = tiling_of(slit(gap))
    at_slit = [
        np.abs(block.ends(wall)[:, 1]).max() <= gap and block.ends(wall)[:, 0].min() >= 0
        for block in tiling.blocks
        for wall in block.walls
    ]
    assert all(block.chart for block in tiling.blocks) and sum(at_slit) >= 2


def test_a_slit_is_not_sewn_up(gap=1e-9):
    def root(x, y):
        angle = np.mod(np.arctan2(y, x), 2 * np.pi)
        angle = np.where(angle > 2 * np.pi - 0.5 * gap, 0.0, angle)
        return np.sqrt(np.hypot(x, y)) * np.sin(0.5 * angle)

    domain, given = slit(gap), sf.function(root)
    problem = sf.Problem(
        domain, lambda u, x, y: -sf.laplacian(u), boundary=lambda u, x, y: u - given(x, y)
    )
    solution = sf.solve(problem, tol=0.03)
    x, y = domain.sample(300).T
    assert np.abs(solution(x, y) - root(x, y)).max() < 3 * solution.error_estimate


def test_a_corner_beyond_the_boundary_ends_the_cuts(monkeypatch):
    """On a shape that cuts the patch, the part at its corner may lie outside."""
    whole = Cell(Patch((AxisMap(0.0, 1.0), AxisMap(0.0, 1.0)), (8, 8)))
    every = cuts.parts_of

    def inside(*arguments):
        return [c for c in every(*arguments) if c.corner != (0, 0)]

    monkeypatch.setattr(cuts, "parts_of", inside)
    parts = cuts.rings(whole, (0, 0), 1.0, [np.array([8, 8])] * 4)
    assert len(parts) == 3 and all(p.corner != (0, 0) for p in parts)


def test_a_long_patch_is_cut_as_deep_as_others_at_its_corner():
    """First along its longer side, then along both, to a part as small as was asked for."""
    cell = Cell(Patch((AxisMap(0.0, 0.4), AxisMap(-0.05, 0.0)), (9, 9)))
    parts = cut_as_deep(cell, (0, 1), 1e-3, 1.0, 1e-6, (6, 9))
    last = parts[-1].patch
    assert last.low[0] == 0.0 and last.high[1] == 0.0
    assert 0.25e-3 < last.sides.max() <= 1e-3
    assert sum(p.patch.sides.prod() for p in parts) == pytest.approx(0.4 * 0.05)
    assert max(p.patch.sides.max() / p.patch.sides.min() for p in parts) <= 4.0
    # Less is left on smaller rings, that of the corner has all again.
    counts = [p.patch.functions[0] for p in parts]
    assert counts[0] == counts[-1] == 9 and min(counts) == counts[-2] < 9


def test_cells_around_a_corner_are_cut_alike_also_between_two():
    """One at two corners is halved between them, and then cut as deep as the one beside it."""
    corners = np.array([[0.0, 0.6], [0.1, 0.6]])
    between = Cell(Patch((AxisMap(0.0, 0.1), AxisMap(0.3, 0.6)), (9, 9)))
    beside = Cell(Patch((AxisMap(0.1, 0.5), AxisMap(0.3, 0.6)), (9, 9)))
    deep = rings(beside, (0, 1), 1.0, [np.array([9, 9])] * 7)
    cells = evened_around([between, *deep], corners, 1e-6, (6, 9))
    assert sum(c.patch.sides.prod() for c in cells) == pytest.approx(0.5 * 0.3)
    touched = touching(cells, corners)
    sizes = [cells[i].patch.longest for i, own in touched.items() if own[0].corner == 1]
    assert len(sizes) == 2 and max(sizes) <= 4 * min(sizes)
    # Where none was cut towards a corner, none need be.
    assert evened_around([between, beside], corners, 1e-6, (6, 9)) == [between, beside]


@pytest.mark.slow
def test_layers_beside_a_corner_that_points_inwards():
    domain = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
    problem = sf.Problem(
        domain, lambda u, x, y: -1e-3 * sf.laplacian(u) + u - 1, boundary=lambda u, x, y: u
    )
    rough, fine = (sf.solve(problem, tol=tol) for tol in (1e-3, 1e-5))
    assert rough.converged and fine.converged
    r, angle = np.geomspace(1e-8, 0.9, 300), np.linspace(0.01, 1.49, 9)[:, None] * np.pi
    x, y = ((r * f(angle)).ravel() for f in (np.cos, np.sin))
    assert np.abs(rough(x, y) - fine(x, y)).max() < 1e-3
    # The domain is its own mirror image.
    assert np.abs(fine(x, y) - fine(-y, -x)).max() < 1e-5
