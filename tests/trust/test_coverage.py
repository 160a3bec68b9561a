"""Domains of which a part lies on no patch are refused, and those that had such parts have none."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.adaptor import Patches
from sharpfront.errors import DomainError
from sharpfront.trust.coverage import refuse_gaps

# Boxes whose sides are walls, beside what a curve cuts: on first sight they seem to lie outside.
WITH_ARMS = {
    "keyhole": sf.Disk((0, 0), 0.5) | sf.Box((-0.1, 0.1), (-1, 0)),
    "key": sf.Disk((0, 0), 0.5) | sf.Box((0, 2), (-0.05, 0.1)),
    "two arms": sf.Box((-1, -0.3), (0, 0.2)) | sf.Disk((0, 0), 0.4) | sf.Box((0.1, 0.2), (0, 1)),
}


def poisson(domain):
    return sf.Problem(domain, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)


@pytest.mark.parametrize("name", WITH_ARMS)
def test_arms_of_a_disk_are_covered(name):
    state = Patches().start(poisson(WITH_ARMS[name]), 1e-2, 0)
    area = sum(
        float(patch.cut.quadrature[1].sum()) if patch.cut else float(np.prod(patch.sides))
        for patch in (cell.patch for cell in state.cells)
    )
    assert area == pytest.approx(WITH_ARMS[name].measure, rel=1e-6)


SOLIDS = {
    # Of the ball a sliver looks out beside a face of the box, five hundredths thick.
    "a sliver of a ball": sf.Box((0.5, 1), (-1, 1), (-1, -0.5)) | sf.Ball((0, -0.5, 0), 0.75),
    # What a box takes away is smaller than a triangle of the ball's surface.
    "a notch in a ball": sf.Ball((0.5, 0, 0.5), 1) - sf.Box((-0.5, 0.5), (-0.5, 0.5), (-1, 0)),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_all_of_a_solid_is_covered(name):
    domain = SOLIDS[name]
    problem = sf.Problem(
        domain, lambda u, x, y, z: -sf.laplacian(u) - 1, boundary=lambda u, x, y, z: u
    )
    state = Patches().start(problem, 1e-2, 0)
    low, high = domain.bounds
    points = low + (high - low) * np.random.default_rng(1).random((40_000, 3))
    points = points[domain.contains(points)]
    held = np.zeros(len(points), dtype=bool)
    for patch in (cell.patch for cell in state.cells):
        held |= np.all((points >= patch.low) & (points <= patch.high), axis=1)
    assert held.all()


def test_a_missing_patch_is_found():
    state = Patches().start(poisson(WITH_ARMS["keyhole"]), 1e-2, 0)
    patches = [cell.patch for cell in state.cells]
    lost = min(patches, key=lambda patch: patch.low[1])
    with pytest.raises(DomainError, match=r"nothing covers \(.*, -0\."):
        refuse_gaps(WITH_ARMS["keyhole"], [patch for patch in patches if patch is not lost])


def test_a_thin_arm_is_solved():
    """In the middle of a long arm of width w, u is that of a strip: f w^2 / 8."""
    problem = sf.Problem(
        WITH_ARMS["keyhole"], lambda u, x, y: -sf.laplacian(u) - 20, boundary=lambda u, x, y: u
    )
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged
    assert solution(0.0, -0.75) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("deep", [1e-3, 1e-4])
@pytest.mark.parametrize("hole", [((-0.2, 0.3), (-0.3, 0.1)), ((-0.3, 0.3), (-0.3, 0.3))])
def test_layers_about_a_hole_with_corners_lie_in_the_domain(hole, deep):
    domain = sf.Disk((0, 0), 1) - sf.Box(*hole)
    problem = sf.Problem(
        domain, lambda u, x, y: -deep * sf.laplacian(u) + u - 1 - x, boundary=lambda u, x, y: u
    )
    patches = [cell.patch for cell in Patches().start(problem, 1e-3, 0).cells]
    ends = np.unique([(p.low[0], p.high[0]) for p in patches if p.chart is None])
    (left, right), (low, high) = hole
    if deep < 1e-3:
        # As deep on both sides, 13 times the width of the layer.
        beyond, before = ends[ends > right + 1e-9], ends[ends < left - 1e-9]
        depths = 13 * np.sqrt(deep) * np.ones(2)
        np.testing.assert_allclose([beyond.min() - right, left - before.max()], depths, rtol=0.02)
    across = [p for p in patches if p.chart is None and left < p.low[0] and p.high[0] < right]
    assert all(p.low[1] >= high - 1e-9 or p.high[1] <= low + 1e-9 for p in across)
