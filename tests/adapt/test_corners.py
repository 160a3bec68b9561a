"""What no number of kernels resolves is called by its name."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import ResolveSpace
from sharpfront.adapt.corners import reentrant

SQUARE = sf.Box((0, 1), (0, 1))


def poisson(u, x, y):
    return -sf.laplacian(u) - 1


@pytest.mark.parametrize("domain", [SQUARE, SQUARE - sf.Box((0.4, 1), (0.6, 1))])
@pytest.mark.parametrize(("part", "jump"), [("left", 1.0), ("bottom", -3e-2)])
def test_data_that_contradict_each_other_are_named_with_their_values(domain, part, jump):
    problem = sf.Problem(
        domain,
        poisson,
        boundary=lambda u, x, y: u - x * y,
        **{part: lambda u, x, y: u - x * y - jump},
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind == "contradicting data"
    assert f"on {part} gives" in solution.outcome.detail
    assert "max_kernels" not in str(solution.outcome)


def test_data_that_agree_where_they_meet_are_no_contradiction():
    problem = sf.Problem(
        SQUARE,
        sf.laplacian,
        boundary=lambda u, x, y: u - x,
        left=lambda u, x, y: u - 0.1 * np.sin(np.pi * y),
    )
    assert sf.solve(problem, tol=1e-2).converged


@pytest.mark.parametrize("angle", [225.0, 270.0, 330.0])
@pytest.mark.parametrize("turn", [0.0, 40.0])
def test_reentrant_corners_are_known_with_their_angles(angle, turn):
    ways = np.radians(turn + angle * np.linspace(0, 1, 5))
    ring = np.stack([np.cos(ways), np.sin(ways)], axis=1)
    corners, angles = reentrant(sf.Polygon([(0, 0), *ring]))
    assert corners == pytest.approx(np.zeros((1, 2)))
    assert angles == pytest.approx([angle], abs=1.0)


def test_a_convex_region_has_none():
    for domain in (SQUARE, sf.Disk((0, 0), 1), sf.Polygon([(0, 0), (1, 0), (0, 1)])):
        assert not len(reentrant(domain)[0])


@pytest.mark.parametrize("width", [0.3])
def test_a_singular_corner_is_not_answered_with_more_kernels(width):
    domain = SQUARE - sf.Box((width, 1), (1 - width, 1))
    problem = sf.Problem(domain, poisson, boundary=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-6, adaptor=ResolveSpace(max_kernels=500))
    assert solution.outcome.kind == "singular at a corner"
    assert f"({width:.4g}, {1 - width:.4g})" in solution.outcome.detail
    assert "max_kernels" not in str(solution.outcome)
