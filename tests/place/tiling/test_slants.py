"""Data that jump or bend along straight lines across the axes."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.slanted import Line
from sharpfront.errors import ProblemError
from sharpfront.place.tiling.tiling import cut_along

BOX = sf.Box((0, 1), (0, 1))
KITE = sf.Polygon([(0, 0), (1.2, 0.2), (1, 1.1), (-0.1, 0.9)])
ANGLE = BOX - sf.Box((0.5, 2), (-1, 0.4))


def inside(domain, count=300):
    low, high = domain.bounds
    points = low + (high - low) * np.random.default_rng(3).random((count, 2))
    return points[domain.contains(points)].T


def stated(domain, line, power, slope=0.0):
    """Return a solution that is smooth but for a power of the distance from a line."""
    a, b, c = line

    def exact(x, y):
        s = a * x + b * y - c
        return np.sin(x + 2 * y) + np.where(s > 0, np.abs(s) ** power, 0.0)

    def source(x, y):
        s = a * x + b * y - c
        bent = power * (power - 1) * (a * a + b * b) * np.abs(s) ** (power - 2)
        return 5 * np.sin(x + 2 * y) - np.where(s > 0, bent, 0.0) + slope * exact(x, y)

    given = dict.fromkeys(domain.parts, lambda u, x, y: u - exact(x, y))
    problem = sf.Problem(
        domain, lambda u, x, y: -sf.laplacian(u) + slope * u - source(x, y), **given
    )
    return problem, exact


@pytest.mark.parametrize(
    ("domain", "line"),
    [
        (BOX, (1, 1, 1.0)),
        (BOX, (1, -0.6, 0.3)),
        (KITE, (1, -0.6, 0.3)),
        # Along an axis, but sides are not.
        (KITE, (1, 0, 0.4)),
    ],
)
def test_a_source_that_jumps(domain, line):
    problem, exact = stated(domain, line, 2, slope=3.0)
    solution = sf.solve(problem, tol=1e-7)
    assert solution.converged, str(solution.outcome)
    assert solution.kernels < 3000
    x, y = inside(domain)
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-7


def test_a_source_that_is_infinite_on_a_line():
    """Stated as a whole: the flux of the difference goes on, and nothing is asked for there."""
    line = (1.0, -0.45, 0.2)
    _, exact = stated(BOX, line, 1.6)
    problem = sf.Problem(
        BOX,
        lambda u, x, y: -sf.laplacian(u - exact(x, y)),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged, str(solution.outcome)
    x, y = inside(BOX)
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-4


@pytest.mark.parametrize("step", [1.0, 0.2])
def test_what_does_jump_inside_a_derivative_is_refused(step):
    # A slope that jumps is a load along the line, a value a load of second order.
    for bent in (lambda s: step * s, lambda s: step + 0 * s):
        shift = lambda x, y, f=bent: np.where(x + 2 * y > 1, f(x + 2 * y - 1), 0.0)  # noqa: E731
        with pytest.raises(ProblemError, match="slanted"):
            sf.solve(
                sf.Problem(
                    BOX,
                    lambda u, x, y, f=shift: -sf.laplacian(u - f(x, y)),
                    boundary=lambda u, x, y: u,
                )
            )


@pytest.mark.parametrize("domain", [BOX, KITE, ANGLE])
@pytest.mark.parametrize("turned", [0.3, 0.9, 2.0, 2.9])
def test_no_chart_lies_across_a_line(domain, turned):
    normal = np.cos(turned), np.sin(turned)
    line = Line(normal, float(np.dot(normal, [0.43, 0.57])))
    tiling = cut_along(domain, [line])
    assert tiling is not None
    for block in tiling.blocks:
        corners = np.array(block.chart.corners)
        away = line.distances(corners)
        assert away.min() > -1e-9 or away.max() < 1e-9
    areas = [_area(np.array(b.chart.corners)) for b in tiling.blocks]
    shape = sum(areas)
    assert shape == pytest.approx(
        {BOX: 1.0, KITE: _area(np.array(KITE.corners)), ANGLE: 0.8}[domain]
    )


def test_slivers_are_left_alone():
    normal = (np.sqrt(0.5), np.sqrt(0.5))
    assert cut_along(BOX, [Line(normal, 0.01)]) is None


def _area(ring):
    x, y = ring.T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
