"""Data that jump or bend along straight lines across the axes."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.oblique_lines import Line
from sharpfront.errors import ProblemError
from sharpfront.place.patches.data_probes import DataProbes
from sharpfront.place.patches.data_resolution import data_tails
from sharpfront.place.patches.first_patches import cut_along_edges, first_cells
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.waves import Waves
from sharpfront.place.tiling.slants import arranged, everywhere
from sharpfront.place.tiling.tiling import cut_along, tiling_of

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


def crossing(rng, w, count=2):
    """Return -lap u = f with fronts along straight lines through about one place."""
    angles = rng.uniform(0, np.pi) + np.cumsum(rng.uniform(0.6, 1.2, count))
    place = rng.uniform(0.4, 0.6, 2)
    sizes = rng.uniform(0.5, 1.0, count)

    def steps(x, y):
        return [
            np.tanh((np.cos(a) * (x - place[0]) + np.sin(a) * (y - place[1])) / w) for a in angles
        ]

    def exact(x, y):
        return sum(c * s for c, s in zip(sizes, steps(x, y), strict=True)) + np.sin(x + 3 * y)

    def equation(u, x, y):
        bends = sum(c * -2 * s * (1 - s * s) for c, s in zip(sizes, steps(x, y), strict=True))
        return sf.laplacian(u) - bends / w**2 + 10 * np.sin(x + 3 * y)

    box = sf.Box((0, 1), (0, 1))
    return sf.Problem(box, equation, boundary=lambda u, x, y: u - exact(x, y)), exact, angles, place


@pytest.mark.parametrize(("seed", "most"), [(0, 7_000), (1, 9_000)])
def test_first_patches_hold_fronts_along_lines_that_cross(seed, most):
    rng = np.random.default_rng(seed)
    problem, *_ = crossing(rng, 10 ** rng.uniform(-4, -2))
    tiling = cut_along_edges(problem, tiling_of(problem.domain), SETTINGS, 1e-2)
    waves = Waves.of(problem, tiling)
    cells = first_cells(problem, tiling, SETTINGS, 1e-2, 30_000, waves)
    assert sum(cell.patch.size for cell in cells) < most
    held = data_tails(DataProbes(problem, (), 1e-2), [cell.patch for cell in cells])
    assert held.tail.max() <= 1.0


@pytest.mark.slow
def test_what_is_missed_most_is_resolved_first():
    """In a corner that a front ends in there is all of its weight, and few patches hold it."""
    rng = np.random.default_rng(2)
    problem, *_ = crossing(rng, 3e-4)
    tiling = cut_along_edges(problem, tiling_of(problem.domain), SETTINGS, 1e-5)
    waves = Waves.of(problem, tiling)
    cells = first_cells(problem, tiling, SETTINGS, 1e-5, 30_000, waves)
    held = data_tails(DataProbes(problem, (), 1e-5), [cell.patch for cell in cells])
    assert held.tail.max() <= 100.0


def test_lines_are_cut_where_they_cross_and_end_where_nothing_is_torn():
    lines = [Line((0.8, 0.6), 0.56), Line((0.6, 0.8), 0.66), Line((0.6, -0.8), 0.1)]
    pairs = [(lines[i], lines[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    corners = [
        np.linalg.solve([a.normal, b.normal], [a.offset, b.offset]).tolist() for a, b in pairs
    ]
    ring = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], dtype=float)
    sides = [(ring[i : i + 2], "") for i in range(4)]
    cut, stretches = arranged(BOX, sides, lines, everywhere)
    assert len(cut) == 4 + 6 and len(stretches) == 9

    def torn(_, stretch):
        """The sides of the triangle between them."""
        return all(np.abs(corners - end).max(axis=1).min() < 1e-9 for end in stretch)

    cut, stretches = arranged(BOX, sides, lines, torn)
    assert len(cut) == 4 and len(stretches) == 3
    tiling = cut_along(BOX, lines, torn=torn)
    assert sum(_area(np.array(b.chart.corners)) for b in tiling.blocks) == pytest.approx(1.0)
    np.testing.assert_allclose(np.sort(tiling.ends, axis=0), np.sort(corners, axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_fronts_along_lines_that_cross(seed):
    rng = np.random.default_rng(seed)
    w = 10 ** rng.uniform(-4, -2)
    problem, exact, angles, place = crossing(rng, w)
    solution = sf.solve(problem, tol=1e-5)
    t = np.concatenate([-np.geomspace(1e-6, 0.4, 40), np.geomspace(1e-6, 0.4, 40)])
    lines = [
        place + np.outer(t, (-np.sin(a), np.cos(a))) + d * np.array((np.cos(a), np.sin(a)))
        for a in angles
        for d in w * np.array([-8, -2, -1, -0.3, 0, 0.4, 1, 3, 10])
    ]
    every = np.concatenate([*lines, BOX.sample(4000)])
    x, y = every[BOX.contains(every)].T
    assert solution.converged
    assert np.abs(solution(x, y) - exact(x, y)).max() < 2e-5
