"""Fronts and edges of materials along curves inside the domain, on strips on both their sides."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.maps import Strip
from sharpfront.measure import max_error
from sharpfront.rows.neighbours import faces_of

SQUARE = sf.Box((0, 1), (0, 1))


def around(distances, centre, radius, count=400):
    """Return points at distances from a circle, those of them that lie in the square."""
    rng = np.random.default_rng(3)
    r = radius + np.resize(distances, count * len(distances))
    angle = rng.uniform(0, 2 * math.pi, len(r))
    x, y = centre[0] + r * np.cos(angle), centre[1] + r * np.sin(angle)
    inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
    return x[inside], y[inside]


def error_of(solution, exact, x, y):
    """Return the largest error at points and on an even grid, relative to the solution."""
    grid = np.meshgrid(np.linspace(0, 1, 23), np.linspace(0, 1, 23))
    points = [np.concatenate([a, b.ravel()]) for a, b in zip((x, y), grid, strict=True)]
    return max_error(solution, exact, np.stack(points, axis=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("centre", "radius", "width"),
    [((-0.1, 0.2), 0.6, 3e-4)],  # whole circles are in the catalogue
)
def test_circular_fronts_of_any_width(centre, radius, width):
    def distance(x, y):
        return np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2)

    def exact(x, y):
        return np.tanh((radius - distance(x, y)) / width) * (1 + x / 2)

    def equation(u, x, y):
        r = distance(x, y)
        t = np.tanh((radius - r) / width)
        s = (1 - t * t) / width
        own = (-2 * t * s / width - s / r) * (1 + x / 2) - s * (x - centre[0]) / r
        return sf.laplacian(u) - own

    problem = sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y))
    solution = sf.solve(problem, tol=1e-3)
    x, y = around(width * np.array([-20, -5, -2, -1, 0, 1, 3, 8]), centre, radius)
    assert solution.converged
    assert error_of(solution, exact, x, y) < 1e-3
    # Boxes alone would take 15 000 at a width of 1e-2, and ten times as many at 1e-3.
    assert solution.kernels < 12_000


@pytest.mark.parametrize("ratio", [pytest.param(30.0, marks=pytest.mark.slow), 1e-5])
def test_a_round_inclusion(ratio, tmp_path):
    centre, radius = (0.45, 0.56), 0.27
    q = (1 - ratio) / (1 + ratio)

    def exact(x, y):
        a, b = x - centre[0], y - centre[1]
        square = np.maximum(a * a + b * b, 1e-9)
        outside = 1 + q * (radius**2 / square) ** 2
        return (a * a - b * b) * np.where(square < radius**2, 1 + q, outside)

    def equation(u, x, y):
        inside = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2
        return -sf.div(np.where(inside, ratio, 1.0) * sf.grad(u))

    problem = sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y))
    x, y = around(np.array([-0.1, -1e-3, -1e-6, 1e-6, 1e-3, 0.1]), centre, radius)
    # One box all round the inclusion was off by 0.05, whatever its degree up to 12.
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    assert error_of(solution, exact, x, y) < 1e-3
    solution.save(tmp_path / "inclusion.npz")
    again = sf.load(tmp_path / "inclusion.npz")
    np.testing.assert_allclose(again(x, y), solution(x, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("angle", "ratio"), [(0.35, 50.0), (2.0, 1e-3)])
def test_materials_with_a_slanted_edge(angle, ratio):
    normal = np.array([math.cos(angle), math.sin(angle)])
    offset = normal @ [0.52, 0.47]

    def across(x, y):
        return normal[0] * x + normal[1] * y - offset

    def exact(x, y):
        s = across(x, y)
        return np.where(s < 0, s / ratio, s) * min(1.0, ratio) + normal[0] * y - normal[1] * x

    def equation(u, x, y):
        return sf.div(np.where(across(x, y) < 0, ratio, 1.0) * sf.grad(u))

    problem = sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y))
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    assert error_of(solution, exact, np.empty(0), np.empty(0)) < 1e-9


@pytest.mark.parametrize(
    ("width", "jumps", "strips"), [(2e-2, False, True), (1.0, True, True), (1.0, False, False)]
)
def test_strips_are_where_sources_are_narrow_or_jump(width, jumps, strips):
    def source(x, y):
        z = ((x - 0.47) ** 2 + (y - 0.55) ** 2 - 0.09) / (0.6 * width)
        return np.where(z < 0, -1.0, 1.0) if jumps else np.tanh(z)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -0.1 * sf.laplacian(u) + u - source(x, y),
        boundary=lambda u, x, y: u,
    )
    state = sf.Patches().start(problem, 1e-4, 0)
    assert any(isinstance(c.patch.chart, Strip) for c in state.cells) is strips


@pytest.mark.parametrize("least", [1e-6, 1e-8])
def test_a_curve_too_small_for_strips_takes_no_room_from_others(least):
    """As one where a radius is kept from zero, in the middle of a circular front."""

    def deepest(kept):
        def source(x, y):
            r = kept(np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2))
            return np.tanh((r - 0.25) / 1e-2)

        problem = sf.Problem(
            SQUARE,
            lambda u, x, y: -1e-4 * sf.laplacian(u) + u - source(x, y),
            boundary=lambda u, x, y: u,
        )
        cells = sf.Patches().start(problem, 1e-2, 0).cells
        return max(c.patch.chart.depth for c in cells if isinstance(c.patch.chart, Strip))

    assert deepest(lambda r: np.maximum(r, least)) == pytest.approx(deepest(lambda r: r), rel=1e-6)


def _disk(radius, centre, strength):
    """Return a problem with a source on a disk, and its solution."""

    def exact(x, y):
        square = ((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / radius**2
        return (
            strength
            * radius**2
            / 4
            * np.where(square < 1, 1 - square, -np.log(square + (square < 1)))
        )

    def equation(u, x, y):
        inside = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2
        return -u.dxx - u.dyy - np.where(inside, strength, 0.0)

    square = sf.Box((0, 1), (0, 1))
    return sf.Problem(square, equation, boundary=lambda u, x, y: u - exact(x, y)), exact


# Points of a patch, and cells of a grid, lie at such places: what is seen at one of them only is
# neither smooth nor absent.
@pytest.mark.parametrize(
    ("radius", "centre"),
    [
        (1e-3, (0.5, 0.5)),
        pytest.param(3e-4, (0.5, 0.5), marks=pytest.mark.slow),
        pytest.param(1.6e-3, (0.5089, 0.0913), marks=pytest.mark.slow),
    ],
)
def test_small_disks_are_seen_wherever_they_are(radius, centre):
    problem, exact = _disk(radius, centre, radius**-2)
    solution = sf.solve(problem, tol=0.1)
    away = radius * 10.0 ** np.linspace(-1, 1.5, 40)
    x, y = centre[0] + 0.6 * away, centre[1] + 0.8 * away
    largest = np.abs(exact(x, y)).max()
    assert solution.outcome.kind == "converged"
    assert np.abs(solution(x, y) - exact(x, y)).max() < 0.1 * largest


BENT = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))


def _narrow_coefficient(domain, centre, radius):
    """Return a problem with a coefficient that is narrow about a circle, and its solution."""

    def exact(x, y):
        return x * x * y - y + 0.3 * x

    def equation(u, x, y):
        r = np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2)
        e = u - exact(x, y)
        return -sf.laplacian(e) + (2 + np.tanh((r - radius) / 5e-3)) * e

    conditions = dict.fromkeys(domain.parts, lambda u, x, y: u - exact(x, y))
    return sf.Problem(domain, equation, **conditions), exact


@pytest.mark.parametrize(
    ("domain", "centre", "radius", "ends"),
    [
        # It touches the corner that points inwards.
        pytest.param(BENT, (0.0, -0.75), 0.75, 1, marks=pytest.mark.slow),
        # A circle that touches a wall.
        (SQUARE, (0.5, 0.3), 0.3, 2),
        # From one place of a round boundary to another.
        pytest.param(sf.Disk((0, 0), 1), (1.0, 0.0), 0.9, 2, marks=pytest.mark.slow),
    ],
)
def test_strips_end_inside_where_there_is_no_room(domain, centre, radius, ends):
    problem, exact = _narrow_coefficient(domain, centre, radius)
    solution = sf.solve(problem, tol=0.1)
    patches = solution.approximation.bases["u"].patches
    regions = {p.region for p in patches if p.region is not None}
    sides = [side for region in regions for side in region.strips.values()]
    caps = [strip for strip, axis, _ in sides if axis == 0]
    assert len(caps) == ends
    # Boxes go on all along the sides at which strips end.
    faces, _ = faces_of(patches, (None, None))
    for strip in caps:
        own = [f.below for f in faces if f.strip is strip and f.below.axis == 0]
        assert sum(c.lengths[0] for c in own) == pytest.approx(strip.depth, rel=1e-5)
    points = domain.sample(500)
    assert solution.converged
    assert np.abs(solution(*points.T) - exact(*points.T)).max() < 1e-3


@pytest.mark.slow
def test_a_front_that_touches_a_corner():
    """As the last of the problems for adaptive refinement (Mitchell 2013), without the others."""

    def exact(x, y):
        return np.arctan(200 * (np.sqrt(x**2 + (y + 0.75) ** 2) - 0.75))

    problem = sf.Problem(
        BENT,
        lambda u, x, y: -sf.laplacian(u - exact(x, y)),
        **dict.fromkeys(BENT.parts, lambda u, x, y: u - exact(x, y)),
    )
    solution = sf.solve(problem, tol=1e-4)
    angle, away = np.meshgrid(np.linspace(0.5, 1.09, 60) * np.pi, [-0.05, -5e-3, 0.0, 1e-3, 0.02])
    x = (0.75 + away) * np.cos(angle)
    y = (0.75 + away) * np.sin(angle) - 0.75
    inside = BENT.contains(np.stack([x.ravel(), y.ravel()], axis=1))
    x, y = x.ravel()[inside], y.ravel()[inside]
    assert solution.converged
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-4
    # Boxes alone took more than 50 000 and did not end.
    assert solution.kernels < 20_000


def test_materials_whose_edge_ends_in_a_corner_are_refused():
    def equation(u, x, y):
        inside = x**2 + (y + 0.75) ** 2 < 0.75**2
        return sf.div(np.where(inside, 5.0, 1.0) * sf.grad(u))

    conditions = dict.fromkeys(BENT.parts, lambda u, x, y: u - x)
    with pytest.raises(ProblemError, match="jumps where"):
        sf.Patches().start(sf.Problem(BENT, equation, **conditions), 1e-2, 0)


def test_corners_between_a_wall_and_a_curve_have_no_functions_beside_strips():
    def equation(u, x, y):
        inside = (x - 0.5) ** 2 + y**2 < 0.45**2
        return -sf.laplacian(u) - np.where(inside, 1.0, 2.0)

    bitten = SQUARE - sf.Disk((0.5, 0.0), 0.2)
    conditions = dict.fromkeys(bitten.parts, lambda u, x, y: u)
    state = sf.Patches().start(sf.Problem(bitten, equation, **conditions), 1e-2, 0)
    assert any(isinstance(c.patch.chart, Strip) for c in state.cells)
    assert state.rows.functions == ()
