"""Conditions that disagree at a corner: the place is told, and the rest is right."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.certify import noise_in
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import OutcomeKind
from sharpfront.leastsquares.traces import Tree
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell, rings
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.trust.settings import TRUST


@pytest.mark.parametrize(
    ("corner", "turn", "height"), [((0.0, 0.0), 1, 5.0), ((1.3, 0.0), -1, 1.0)]
)
def test_a_pair_whose_data_jump_at_a_corner_is_right_away_from_it(corner, turn, height):
    angle = sf.function(lambda x, y: np.arctan2(y - corner[1], turn * (x - corner[0])))
    exact = lambda x, y: height * 2 / np.pi * angle(x, y)  # noqa: E731
    left, right = (lambda u, v, x, y: (u - height, v)), (lambda u, v, x, y: (u - exact(x, y), v))
    problem = sf.Problem(
        sf.Box((0, 1.3), (0, 1)),
        # Unknowns that meet in highest derivatives: no function is known.
        lambda u, v, x, y: (
            -sf.laplacian(u) + 0.2 * (sf.laplacian(v) - u),
            -sf.laplacian(v) + u,
        ),
        bottom=lambda u, v, x, y: (u, v),
        top=lambda u, v, x, y: (u - exact(x, y), v),
        left=left if turn > 0 else right,
        right=right if turn > 0 else left,
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind is OutcomeKind.CONTRADICTION
    assert f"({corner[0]:g}, {corner[1]:g})" in solution.outcome.detail
    assert solution.error_estimate >= 1.0
    x, y = (c.ravel() for c in np.meshgrid(np.linspace(0, 1.3, 81), np.linspace(0, 1, 81)))
    away = np.hypot(x - corner[0], y - corner[1]) > 0.13
    expected = height * 2 / np.pi * np.arctan2(y - corner[1], turn * (x - corner[0]))
    assert np.abs(solution.u(x, y) - expected)[away].max() < 1e-3 * height
    assert solution.diagnostics["estimate_away"] <= 1e-3
    assert solution.diagnostics["away"] == pytest.approx(0.13)


def test_data_that_agree_at_corners_are_no_jump():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y: (-sf.laplacian(u) + v, -sf.laplacian(v) + u),
        boundary=lambda u, v, x, y: (u - x, v + y),
    )
    assert sf.solve(problem, tol=1e-3).converged


@pytest.mark.parametrize("speed", [1.0, -2.0])
def test_where_functions_run_out_before_the_rest_is_right_it_is_said(speed):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, p, x, y: (-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy),
        boundary=lambda u, v, p, x, y: (u, v),
        top=lambda u, v, p, x, y: (u - speed, v),
        conditions=sf.at((0.5, 0.5), lambda u, v, p, x, y: p),
    )
    outcome = sf.solve(problem, tol=1e-3, max_kernels=900).outcome
    assert outcome.kind is OutcomeKind.CONTRADICTION
    assert f"for u the condition on left gives 0, that on top gives {speed:g}" in outcome.detail
    assert "raise max_kernels" in outcome.detail


@pytest.mark.parametrize(("place", "jump", "tol"), [(0.0, 1.0, 1e-4), (0.37, -2e-3, 1e-4)])
@pytest.mark.parametrize("side", ["bottom", "left"])
def test_a_value_that_jumps_on_a_side_is_known_from_the_statement(side, place, jump, tol):
    flat = side == "bottom"
    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y: -sf.laplacian(u) + u.dx,
        boundary=lambda u, x, y: u,
        **{side: lambda u, x, y: u - np.where((x if flat else y) > place, jump, 0.0) * (1 - x * y)},
    )
    found = Jumps.of(problem, tiling_of(problem.domain), tol)
    assert any(np.allclose(p, (place, -1.0) if flat else (-1.0, place)) for p in found.places)
    assert f"what the condition on {side} gives for u jumps" in found.stated
    assert len(found.stated) == len(found.places)
    smooth = Jumps.of(problem, tiling_of(problem.domain), 10 * abs(jump))
    assert not smooth.places


DISK = sf.Disk((0, 0), 1)
FOUR = [(x, sign * (1 - x**2) ** 0.5) for x in (-0.4, 0.6) for sign in (-1, 1)]
KITE = sf.Polygon([(0, 0), (1.4, 0.2), (1.2, 1.1), (0.1, 0.9)])


@pytest.mark.parametrize(
    ("domain", "given", "places"),
    [
        (DISK, lambda x, y: np.where(y > 0, 1, 0), [(-1, 0), (1, 0)]),
        (DISK, lambda x, y: np.sign(x + y - 1), [(0, 1), (1, 0)]),
        (DISK, lambda x, y: np.floor(x - 0.6), FOUR),
        (KITE, lambda x, y: np.where(x > 0.7, 1, 0), [(0.7, 0.1), (0.7, 0.9 + 0.6 * 0.2 / 1.1)]),
        (DISK, lambda x, y: np.where(y > 0, y, 0), []),
        (DISK, lambda x, y: np.tanh(1e3 * y), []),
    ],
)
def test_a_value_that_jumps_on_curved_and_slanted_sides_is_known(domain, given, places):
    problem = sf.Problem(domain, sf.laplacian, boundary=lambda u, x, y: u - given(x, y))
    found = Jumps.of(problem, tiling_of(domain), 1e-3)
    gaps = [[np.hypot(p[0] - q[0], p[1] - q[1]) for q in found.places] for p in places]
    assert len(found.stated) == len(found.places) == len(places)
    assert all(min(row) < 1e-9 for row in gaps)


def test_a_flux_that_jumps_on_a_rim_is_no_jump_of_the_solution():
    problem = sf.Problem(
        DISK,
        lambda u, x, y: sf.laplacian(u) - u,
        boundary=lambda u, x, y: u.dn - np.where(y > 0, 1, 0),
    )
    assert not Jumps.of(problem, tiling_of(DISK), 1e-3).places


def close_to(places, domain, least=1e-8):
    """Points of a domain at all distances from places that rounding leaves."""
    rng = np.random.default_rng(3)
    r, angle = 10.0 ** rng.uniform(np.log10(least), 0.0, 3000), rng.uniform(0, 2 * np.pi, 3000)
    away = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    points = np.concatenate([place + away for place in np.array(places)])
    return points[domain.contains(points)].T


def test_a_disk_that_is_hot_above_is_solved_up_to_the_jumps():
    problem = sf.Problem(
        DISK, sf.laplacian, boundary=lambda u, x, y: u - np.where(x + 2 * y > 0.5, 1, 0)
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged and "Given values jump at" in solution.outcome.detail
    turn, half = np.arctan2(2, 1), np.arccos(0.5 / 5**0.5)
    first, last = np.exp(1j * (turn - half)), np.exp(1j * (turn + half))
    x, y = close_to([(z.real, z.imag) for z in (first, last, 0j)], DISK)
    z = x + 1j * y
    exact = (np.angle((z - last) / (z - first)) % (2 * np.pi) - half) / np.pi
    assert np.abs(solution(x, y) - exact).max() < 1e-6
    assert solution.kernels < 500


@pytest.mark.parametrize(("place", "height"), [(-0.31, 2.0)])
def test_a_value_that_jumps_on_a_side_is_held_by_the_angle_about_it(place, height):
    exact = lambda x, y: height / np.pi * np.arctan2(y, x - place)  # noqa: E731
    given, box = sf.function(exact), sf.Box((-1, 1), (0, 1))
    problem = sf.Problem(
        box,
        lambda u, x, y: -sf.laplacian(u),
        boundary=lambda u, x, y: u - given(x, y),
        bottom=lambda u, x, y: u - np.where(x > place, 0.0, height),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged and solution.kernels < 400
    x, y = close_to([(place, 0.0)], box)
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-6
    # There both values are as right as each other.
    assert solution(place, 0.0) == pytest.approx(0.5 * height)


HOT = {"boundary": lambda u, x, y: u, "left": lambda u, x, y: u - 1}


@pytest.mark.parametrize("wind", [4.0, 30.0])
def test_a_wind_beside_a_jump_is_the_reaction_that_it_becomes(wind):
    """With u = exp(b x / 2) v the wind b is a reaction b^2 / 4."""
    square = sf.Box((0, 1), (0, 1))
    blown = sf.Problem(square, lambda u, x, y: -sf.laplacian(u) + wind * u.dx, **HOT)
    still = sf.Problem(square, lambda u, x, y: -sf.laplacian(u) + wind**2 / 4 * u, **HOT)
    u, v = sf.solve(blown, tol=1e-3), sf.solve(still, tol=1e-7)
    assert u.converged and v.converged
    x, y = close_to([(0.0, 0.0), (0.0, 1.0)], square, 1e-11)
    assert np.abs(u(x, y) - np.exp(wind * x / 2) * v(x, y))[x < 10 / wind].max() < 1e-3


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x, y: -sf.laplacian(u) + u**3 - 1,
        lambda u, x, y: -sf.div((1 + x + x * y) * sf.grad(u)) - 1,
        lambda u, x, y: -1e-5 * sf.laplacian(u) + u - y,
        lambda u, x, y: -u.dxx - 3 * u.dyy - 0.8 * u.dxy + np.exp(x) * u,
    ],
    ids=["nonlinear", "conductivity that varies", "thin layers", "tensor"],
)
def test_a_hot_side_is_solved_up_to_its_ends_whatever_the_equation(equation):
    square = sf.Box((0, 1), (0, 1))
    problem = sf.Problem(square, equation, **HOT)
    found, finer = (sf.solve(problem, tol=tol) for tol in (1e-3, 1e-5))
    assert found.converged and finer.converged
    x, y = close_to([(0.0, 0.0), (0.0, 1.0)], square, 1e-11)
    apart = np.abs(found(x, y) - finer(x, y)).max()
    assert apart < min(1e-3, 3 * found.error_estimate)
    assert finer(1e-9, 0.5) == pytest.approx(1.0, abs=1e-5)
    assert finer(1e-11, 1e-6) == pytest.approx(1.0, abs=1e-4)
    assert finer(1e-6, 1e-11) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(
    ("terms", "rest"), [((5.0, 0.0), 1.5), ((0.0, 3.0), 0.8)], ids=["reaction", "wind"]
)
def test_what_lower_terms_leave_of_an_angle_falls_towards_its_corner(terms, rest):
    c, b = terms
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)), lambda u, x, y: -sf.laplacian(u) + c * u + b * u.dx, **HOT
    )
    own = Wedges(problem, tiling_of(problem.domain), 1e-6, jumps=[(0.0, 0.0)]).at_first
    (found,) = (f for f in own if f.place == (0.0, 0.0))
    angles, left = np.linspace(0.1, 1.4, 7), []
    for r in (1e-1, 1e-3):
        points = r * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        second = found.values(points, (2, 0)) + found.values(points, (0, 2))
        lower = c * found.values(points, (0, 0)) + b * found.values(points, (1, 0))
        left.append(np.abs(lower - second)[:, 0].max())
        sides = found.values(np.array([[r, 0.0], [0.0, r]]), (0, 0))[:, 0]
        assert sides == pytest.approx([0.0, np.pi / 2], abs=1e-6)
    # The angle alone leaves a constant of a reaction, and of a wind 1 / r.
    assert left[1] < 100.0**-rest * left[0] * 2


RING = DISK - sf.Disk((0.1, 0.05), 0.4)


@pytest.mark.parametrize(
    ("domain", "equation", "jumps"),
    [
        # Both rims are cut by the line on which data jump; a quicker one is saved below.
        pytest.param(RING, lambda u, x, y: -sf.laplacian(u) - 1, 4, marks=pytest.mark.slow),
        (sf.Box((0, 1), (0, 2)), lambda u, x, y: -sf.laplacian(u) + u, 2),
        (DISK, lambda u, x, y: -sf.laplacian(u) + 0.1 * u**3, 2),
    ],
    ids=["hole", "slanted line across a box", "nonlinear on a disk"],
)
def test_data_that_jump_across_a_slanted_line_are_solved(domain, equation, jumps):
    given = lambda x, y: np.where(x + 0.6 * y > 0.4, 1.0 + x, -0.5)  # noqa: E731
    problem = sf.Problem(domain, equation, boundary=lambda u, x, y: u - given(x, y))
    found, finer = (sf.solve(problem, tol=tol) for tol in (1e-2, 1e-3))
    assert found.converged and finer.converged
    assert finer.outcome.detail.split("jump at")[1].count("(") == jumps
    x, y = domain.sample(2000).T
    apart = np.abs(found(x, y) - finer(x, y)).max() / np.abs(finer(x, y)).max()
    assert apart < min(1e-2, 3 * found.error_estimate)
    rim = np.concatenate([domain.boundary(part, 97).points for part in domain.parts])
    rim = rim[np.abs(rim @ [1.0, 0.6] - 0.4) > 1e-6]
    assert np.abs(finer(*rim.T) - given(*rim.T)).max() < 1e-3


def test_functions_that_jump_on_the_rim_of_a_hole_are_saved(tmp_path):
    problem = sf.Problem(RING, sf.laplacian, boundary=lambda u, x, y: u - np.where(x > 0, 1, 0))
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged and solution.outcome.detail.split("jump at")[1].count("(") == 4
    rim = np.concatenate([RING.boundary(part, 97).points for part in RING.parts])
    rim = rim[np.abs(rim[:, 0]) > 1e-6]
    assert np.abs(solution(*rim.T) - (rim[:, 0] > 0)).max() < 1e-2
    solution.save(tmp_path / "ring.npz")
    x, y = RING.sample(200).T
    assert np.array_equal(sf.load(tmp_path / "ring.npz")(x, y), solution(x, y))
    slope = (solution(x + 1e-6, y) - solution(x - 1e-6, y)) / 2e-6
    assert np.allclose(solution.d("x")(x, y), slope, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("size", "share"), [(1e-7, 0.0), (1e-5, 1.0)])
def test_patches_beside_a_jump_that_functions_have_are_cut_as_far_as_rounding_allows(size, share):
    jumps = Jumps(0.1, held=((0.0, 0.0),))
    near = Patch((AxisMap(0.0, size), AxisMap(0.0, size)), (6, 6))
    far = Patch((AxisMap(0.5, 0.5 + size), AxisMap(0.0, size)), (6, 6))
    assert jumps.shares([near, far], {"u": 0})["u"].tolist() == [share, 1.0]


def test_all_of_a_side_but_its_end_is_all_of_the_side():
    square = sf.Box((0, 1), (0, 1))
    problem = sf.Problem(
        square,
        sf.laplacian,
        boundary=lambda u, x, y: u,
        left=lambda u, x, y: u - np.where(y > 1e-9, 1.0, 0.0),
    )
    assert Jumps.of(problem, tiling_of(square), 1e-3).places == ((0.0, 0.0), (0.0, 1.0))
    hot = sf.solve(sf.Problem(square, sf.laplacian, **HOT), tol=1e-4)
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged and solution.kernels == hot.kernels
    assert solution(0.3, 0.2) == pytest.approx(hot(0.3, 0.2), abs=1e-12)


def stokes(u, v, p, x, y):
    return -0.1 * sf.laplacian(u) + p.dx, -0.1 * sf.laplacian(v) + p.dy, u.dx + v.dy


SQUARE = sf.Box((0, 1), (0, 1))
PIN = sf.at((0.4, 0.6), lambda u, v, p, x, y: p)


def flow(domain, **conditions):
    stated = {"boundary": lambda u, v, p, x, y: (u, v), **conditions}
    return sf.Problem(domain, stokes, conditions=PIN, **stated)


def under(lid, domain=SQUARE):
    return flow(domain, top=lambda u, v, p, x, y: (u - lid(x), v))


CORNERS = ((0.0, 0.0), (1.0, 0.2), (0.7, 1.2), (-0.2, 0.9))
TURNED = sf.Polygon(CORNERS)
ENDS = ((0.0, 1.0), (1.0, 1.0))


@pytest.mark.parametrize(
    ("problem", "places"),
    [
        # Slopes of a lid against u_x + v_y = 0, at both ends or one.
        (under(lambda x: 1 - (2 * x - 1) ** 32), ENDS),
        (under(lambda x: x * (1 - x) ** 2), ENDS[:1]),
        (under(lambda x: np.sqrt(x * (1 - x))), ENDS),
        # A pull against a wall at rest; an outflow against one that is pulled.
        (flow(SQUARE, top=lambda u, v, p, x, y: (u.dn - 1, v)), ENDS),
        (
            flow(
                SQUARE,
                top=lambda u, v, p, x, y: (u - x**2, v),
                right=lambda u, v, p, x, y: (0.1 * u.dn - p - 1, v.dn - y),
            ),
            ENDS[1:],
        ),
        # A kink on a side.
        (
            under(lambda x: np.where(x < 0.3, (x / 0.3) ** 2, 1 - ((x - 0.3) / 0.7) ** 2)),
            ((0.3, 1.0), (1.0, 1.0)),
        ),
        # Sides that are turned against the axes.
        (flow(TURNED, boundary=lambda u, v, p, x, y: (u - x, v - 2 * y)), CORNERS),
    ],
)
def test_slopes_that_violate_an_equation_where_sides_meet_are_known(problem, places):
    found = Jumps.of(problem, tiling_of(problem.domain), 1e-3)
    np.testing.assert_allclose(sorted(found.places), sorted(places), atol=1e-12)
    # What makes less of a pressure than the tolerance is none.
    assert not Jumps.of(problem, tiling_of(problem.domain), 1e6).places


@pytest.mark.parametrize(
    "problem",
    [
        under(lambda x: (1 - (2 * x - 1) ** 18) ** 2),
        under(lambda x: x**2 * (1 - x) ** 3, sf.Box((0, 1), (-1, 2))),
        flow(TURNED, boundary=lambda u, v, p, x, y: (u - 3 * x + y, v + 3 * y)),
        flow(
            SQUARE,
            left=lambda u, v, p, x, y: (u - 4 * y * (1 - y), v),
            right=lambda u, v, p, x, y: (0.1 * u.dn - p, v.dn),
        ),
        # Nothing counts like a slope: such corners are resolved.
        sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y: -sf.laplacian(u),
            boundary=lambda u, x, y: u,
            top=lambda u, x, y: u.dn - 1,
        ),
    ],
)
def test_slopes_that_fit_are_no_jump(problem):
    assert not Jumps.of(problem, tiling_of(problem.domain), 1e-9).places


@pytest.mark.parametrize(("corner", "turn", "pull"), [((0.0, 0.0), 1, 1.0), ((1.3, 0.0), -1, 0.4)])
def test_a_pressure_that_is_unbounded_at_a_corner_is_no_resonance(corner, turn, pull):
    """Stream function r^2 times the angle: u is linear along both sides, p = 0.4 log r."""

    def exact(x, y):
        along, angle = turn * (x - corner[0]), np.arctan2(y, turn * (x - corner[0]))
        pressure = 0.2 * pull * np.log(along**2 + y**2 + 1e-300)
        return (
            turn * pull * (2 * y * angle + along),
            pull * (y - 2 * along * angle),
            pressure,
        )

    def given(u, v, p, x, y):
        return u - exact(x, y)[0], v - exact(x, y)[1]

    def straight(u, v, p, x, y):
        return u - turn * pull * np.pi * y, v - pull * y

    problem = sf.Problem(
        sf.Box((0, 1.3), (0, 1)),
        stokes,
        bottom=lambda u, v, p, x, y: (u - pull * (x - corner[0]), v),
        left=straight if turn > 0 else given,
        right=given if turn > 0 else straight,
        top=given,
        conditions=sf.at((0.6, 0.5), lambda u, v, p, x, y: p - exact(0.6, 0.5)[2]),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind is OutcomeKind.CONTRADICTION, str(solution.outcome)
    assert "slopes of the data" in solution.outcome.detail
    assert "with its slope" in solution.outcome.advice
    x, y = (c.ravel() for c in np.meshgrid(np.linspace(0, 1.3, 41), np.linspace(0, 1, 41)))
    away = np.hypot(x - corner[0], y - corner[1]) > 0.13
    for name, truth in zip("uvp", exact(x, y), strict=True):
        assert np.abs(getattr(solution, name)(x, y) - truth)[away].max() < 1e-3


@pytest.mark.parametrize(("levels", "place"), [(20, 0), (45, 1)])
def test_noise_is_measured_in_units_of_each_unknown(levels, place):
    """A pressure is 1/h times larger on small patches; a free one is large on all of them."""

    def grown(problem):
        tiling, rows = tiling_of(SQUARE), PatchRows(problem)
        cell = Cell(Patch((AxisMap(0.0, 1.0),) * 2, (6, 6)))
        cells = rings(cell, (place, 1), 1.0, [np.array([6, 6])] * (levels + 1))
        patches = tuple(c.patch for c in cells)
        system, found = Tree().factor(patch_system(rows, tiling, patches))
        bases = dict.fromkeys(problem.unknowns, PatchworkBasis(patches))
        weights = split_weights(system.arranged(found.columns)[:, 1], bases)
        return noise_in(Approximation(problem.coordinates, bases, weights), rows)

    walls = {"boundary": lambda u, v, p, x, y: (u, v)}
    assert grown(flow(SQUARE, **walls)) < 1e4
    assert grown(sf.Problem(SQUARE, stokes, **walls)) > TRUST.amplified


@pytest.mark.parametrize("size", [1.0, 1e4, 1e7])
def test_large_values_that_agree_at_a_corner_do_not_jump_there(size):
    """Beside a corner a slope of 2e4 differs by 2e-9, which was called contradicting data."""

    def exact(x, y):
        return size * np.sin(2 * x) * np.cos(y)

    pair = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y: (sf.laplacian(u) + 5 * exact(x, y), sf.laplacian(v)),
        boundary=lambda u, v, x, y: (u - exact(x, y), v - 1),
    )
    found = sf.solve(pair, tol=1e-6)
    assert found.converged and "jump" not in found.outcome.detail
