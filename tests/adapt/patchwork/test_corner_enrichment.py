"""Functions of corners: what they are, that they are added, and that estimates stay true."""

from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork import adaptor
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.state import PatchState
from sharpfront.bases.corner_functions import restored, tabulated
from sharpfront.leastsquares.leaf_rows import joined, least, remainder
from sharpfront.place.tiling.tiling import tiling_of


def sector(omega, turned=0.0):
    angles = turned + np.linspace(0.0, omega, 5)
    return sf.Polygon([(0.0, 0.0), *((float(np.cos(t)), float(np.sin(t))) for t in angles)])


def drawn(seed):
    """Return a problem with smooth data on a sector, its angle, terms and data drawn."""
    draw = np.random.default_rng(seed)
    omega, turned = np.pi * draw.uniform(1.2, 1.7), draw.uniform(0, 6)
    wind, reaction = [(0.0, 0.0), (3.0, 0.0), (-1.0, 4.0)][seed % 3]
    a, b, c = draw.uniform(-2, 2, 3)
    return sf.Problem(
        sector(omega, turned),
        lambda u, x, y: -sf.laplacian(u) + wind * u.dx + reaction * u - np.cos(a * x + b * y) - 1,
        boundary=lambda u, x, y: u - np.sin(b * x + c * y),
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_functions_find_what_cuts_find_and_estimates_are_true(seed, monkeypatch):
    problem = drawn(seed)
    solution = sf.solve(problem, tol=1e-3)
    monkeypatch.setattr(Wedges, "functions", ())
    cut = sf.solve(problem, tol=3e-4)
    r, t = np.meshgrid(np.geomspace(1e-6, 0.9, 30), np.linspace(0, 2 * np.pi, 40))
    points = np.stack([(r * np.cos(t)).ravel(), (r * np.sin(t)).ravel()], axis=1)
    points = points[problem.domain.contains(points)]
    error = float(np.abs(solution(*points.T) - cut(*points.T)).max())
    assert solution.converged and cut.converged
    assert error <= 1e-3 and error <= 3 * solution.error_estimate + 3e-4
    assert 5 * solution.kernels < cut.kernels


def corner_functions(equation, omega=1.3 * np.pi, tol=1e-5, **conditions):
    conditions = conditions or {"boundary": lambda u, x, y: u}
    problem = sf.Problem(sector(omega, 0.4), equation, **conditions)
    return Wedges(problem, tiling_of(problem.domain), tol).functions


def test_derivatives_of_corner_functions_are_those_of_their_values():
    corners = corner_functions(lambda u, x, y: -sf.laplacian(u) + 2 * u.dx + u - 1)
    draw = np.random.default_rng(1)
    r, t = draw.uniform(0.1, 0.8, 30), 0.4 + draw.uniform(0.1, 1.2 * np.pi, 30)
    points, h = np.stack([r * np.cos(t), r * np.sin(t)], axis=1), 1e-5
    for orders, step in (((1, 0), (h, 0)), ((0, 1), (0, h)), ((1, 1), (h, 0))):
        below = (0, orders[1]) if orders == (1, 1) else (0, 0)
        two = [tabulated(corners, points + k * np.array(step), below) for k in (1, -1)]
        found = tabulated(corners, points, orders)
        np.testing.assert_allclose(found, (two[0] - two[1]) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("wind", [0.0, 2.0])
def test_what_an_equation_leaves_of_corner_functions_is_smoother_than_they_are(wind):
    corners = corner_functions(lambda u, x, y: -sf.laplacian(u) + wind * (u.dx + u) - 1)
    at_corner = next(c for c in corners if np.allclose(c.place, 0))
    power = at_corner.terms[0].power
    left = []
    for r in (1e-2, 1e-4):
        points = r * np.array([[np.cos(2.0), np.sin(2.0)]])
        terms = [(-1, (2, 0)), (-1, (0, 2)), (wind, (1, 0)), (wind, (0, 0))]
        rows = sum(c * at_corner.values(points, o) for c, o in terms)
        left.append(abs(float(rows[0, 0])) / r ** (power - 1))
    # Of first derivatives alone r^(a - 1) would be left: then this would not fall.
    assert left[1] < 1e-3 * max(left[0], 1e-9) + 1e-6


def test_functions_are_kept_when_a_solution_is_saved(tmp_path):
    box = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
    problem = sf.Problem(box, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-4)
    basis = solution.approximation.bases["u"]
    assert basis.shared and solution.kernels < 1000
    solution.save(tmp_path / "l.npz")
    again = sf.load(tmp_path / "l.npz")
    x, y = -np.random.default_rng(2).random((2, 20)), np.random.default_rng(3).random((2, 20))[0]
    np.testing.assert_array_equal(again(x[0], y), solution(x[0], y))
    copy = restored(basis.shared[0].state())
    points = np.array([[-0.3, 0.4]])
    np.testing.assert_array_equal(
        copy.values(points, (1, 0)), basis.shared[0].values(points, (1, 0))
    )


def test_functions_of_a_hole_jump_in_it_and_are_nothing_behind_it():
    ring = sf.Box((0, 3), (0, 3)) - sf.Box((1, 2), (1, 2))
    problem = sf.Problem(ring, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    corners = Wedges(problem, tiling_of(ring), 1e-4).functions
    inner = [c for c in corners if 0 < c.place[0] < 3]
    assert len(corners) == 8 and len(inner) == 4
    (own,) = (c for c in inner if c.place == (1.0, 1.0))
    beside, behind = np.array([[1.5, 0.5]]), np.array([[2.5, 2.5]])
    assert np.all(own.values(beside, (0, 0)) != 0.0)
    assert np.all(own.values(behind, (0, 0)) == 0.0)


def test_shared_columns_are_chosen_to_leave_least():
    draw = np.random.default_rng(5)
    rows = [draw.standard_normal((20, 5)) for _ in range(3)]
    (left,) = joined([remainder(part, 2) for part in rows])
    strengths, norm = least(left)
    every = np.concatenate(rows)
    wanted, squares, *_ = np.linalg.lstsq(every[:, 3:], -every[:, 0], rcond=None)
    np.testing.assert_allclose(strengths, wanted, atol=1e-12)
    np.testing.assert_allclose(norm**2, squares[0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_corners_that_lie_flush_are_where_they_are_stated(seed):
    draw = np.random.default_rng(seed)
    low, far = draw.uniform(-5, 5, 2), draw.uniform(0.5, 4, 2)
    high = low + far
    notch = low + draw.uniform(0.2, 0.8, 2) * far
    x, y = (
        [(low[0], notch[0]), (notch[0], high[0])][seed % 2],
        [(low[1], notch[1]), (notch[1], high[1])][seed // 2],
    )
    domain = sf.Box((low[0], high[0]), (low[1], high[1])) - sf.Box(x, y)
    corners = tiling_of(domain).corners
    places = [np.concatenate([low[a : a + 1], high[a : a + 1], notch[a : a + 1]]) for a in range(2)]
    for a in range(2):
        apart = np.abs(corners[:, a, None] - places[a]).min(axis=1)
        assert len(corners) == 6 and apart.max() < 1e-14 * 10
    problem = sf.Problem(domain, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged and solution.kernels < 500


@pytest.mark.parametrize(("rate", "power"), [(1.0, 3), (-2.0, 3), (4.0, 2)])
def test_functions_serve_equations_that_are_not_linear(rate, power):
    first, turned = 1 / 1.4, 0.3

    def exact(x, y):
        z = (x + 1j * y) * np.exp(-1j * turned)
        angle = np.angle(z * np.exp(-0.7j * np.pi)) + 0.7 * np.pi
        return np.abs(z) ** first * np.sin(first * angle) + 0.2 * x * y + 0.1

    u0 = sf.function(exact)
    problem = sf.Problem(
        sector(1.4 * np.pi, turned),
        lambda u, x, y: -sf.laplacian(u) + rate * (u**power - u0(x, y) ** power),
        boundary=lambda u, x, y: u - u0(x, y),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged and solution.kernels < 500
    r, t = np.meshgrid(np.geomspace(1e-6, 0.9, 20), np.linspace(0, 2 * np.pi, 30))
    points = np.stack([(r * np.cos(t)).ravel(), (r * np.sin(t)).ravel()], axis=1)
    points = points[problem.domain.contains(points)]
    error = float(np.abs(solution(*points.T) - exact(*points.T)).max())
    assert error <= min(1e-3, 3 * solution.error_estimate)


@pytest.mark.parametrize(("omega", "rate", "load"), [(1.5, 1.0, 1.0), (1.3, 5.0, -2.0)])
def test_what_a_guess_adds_to_lower_terms_is_not_made_up_for(omega, rate, load):
    problem = sf.Problem(
        sector(omega * np.pi),
        lambda u, x, y: -sf.laplacian(u) + rate * u**3 - load,
        boundary=lambda u, x, y: u,
    )
    assert sf.solve(problem, tol=1e-3).kernels < 500


@pytest.mark.parametrize(("a", "tol"), [(0.6, 1e-5), (0.74, 1e-6)])
def test_a_source_that_is_infinite_along_a_side(a, tol):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) - a * (a - 1) * x ** (a - 2),
        boundary=lambda u, x, y: u - x**a,
    )
    solution = sf.solve(problem, tol=tol)
    x = np.geomspace(1e-9, 1, 200)
    error = np.abs(solution(x, 0.37 + 0 * x) - x**a).max()
    assert solution.converged, solution.outcome
    assert error < max(3 * solution.error_estimate, tol)


@pytest.mark.parametrize(("wind", "slope"), [(5.0, 0.6), (25.0, 0.0)])
def test_winds_into_right_angles_are_solved_without_functions_that_do_not_fit(wind, slope):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) / wind + u.dx + slope * u.dy - 1,
        boundary=lambda u, x, y: u,
    )
    assert sf.solve(problem, tol=1e-7).converged


def test_functions_that_do_not_lead_on_are_left(monkeypatch):
    # As if no estimate with them were small enough.
    left = []
    without = PatchState.without_functions.fget
    monkeypatch.setattr(
        PatchState, "without_functions", property(lambda s: left.append(s) or without(s))
    )
    monkeypatch.setattr(adaptor, "ADAPT", replace(ADAPT, patience=1))
    # And as if patches were cut for what functions leave already.
    monkeypatch.setattr("sharpfront.adapt.patchwork.state.cut_at_functions", lambda *_: [])
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) + 20 * u - 9,
        boundary=lambda u, x, y: u,
    )
    solution = sf.solve(problem, tol=1e-6)
    assert left and solution.converged
    basis = solution.approximation.bases["u"]
    assert not basis.shared


def test_conditions_elsewhere_add_nothing_to_the_functions_of_a_corner():
    """Terms for a cooled hole made functions of the plate's corners worse than none."""
    corner = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
    plate = corner - sf.Disk((-0.5, 0.3), 0.2).named("hole")

    def terms(hole):
        problem = sf.Problem(
            plate,
            lambda u, x, y: -sf.laplacian(u) - 1,
            boundary=lambda u, x, y: u,
            hole=hole,
        )
        return [own.terms for own in Wedges(problem, tiling_of(plate), 1e-5).functions]

    held = terms(lambda u, x, y: u)
    assert len(held) == 6
    assert terms(lambda u, x, y: u.dn + 2 * u) == held


@pytest.mark.parametrize("gap", [1e-9, 1e-6])
def test_the_sides_of_a_slit_are_two(gap):
    """They have nearly one direction, and functions of its tip all the same."""

    def exact(x, y):
        r, t = np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * np.pi)
        return np.sqrt(r) * np.sin(0.5 * t)

    corners = [(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (1, -1), (1, -gap)]
    problem = sf.Problem(
        sf.Polygon(corners),
        lambda u, x, y: -sf.laplacian(u),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged and solution.kernels < 2500
    x, y = 1e-4 * np.array([-1.0, 0.3, 0.2]), 1e-4 * np.array([0.1, 1.0, -1.0])
    np.testing.assert_allclose(solution(x, y), exact(x, y), atol=1e-6)


@pytest.mark.parametrize(("mixed", "plain"), [(0.0, True), (1.5, False)])
def test_values_around_a_box_need_no_functions_at_first(mixed, plain):
    """Unless a mixed derivative makes its corners others than right angles."""
    box = sf.Box((0, 1), (0, 2))
    problem = sf.Problem(
        box,
        lambda u, x, y: -sf.laplacian(u) - mixed * u.dxy + u - x,
        boundary=lambda u, x, y: u,
    )
    corners = Wedges(problem, tiling_of(box), 1e-5)
    assert corners._is_regular == (corners.at_first == ()) == plain
    assert any(corners._singular(main.functions) for main in corners._main) != plain


@pytest.mark.parametrize(
    ("corners", "rate", "tol"),
    [
        ([(0, 0), (1, 0), (1, 1), (0, 1)], 1e6, 1e-5),
        ([(0, 0), (1, 0.1), (1.2, 0.9), (-0.2, 1)], 40.0, 1e-6),
    ],
)
def test_values_next_to_slopes_at_corners_are_as_exact_as_is_said(corners, rate, tol):
    """u_n + c u is a flux nearer than 1/c to a corner and a value farther away."""
    problem = sf.Problem(
        sf.Polygon(corners),
        lambda u, x, y: sf.laplacian(u) + 10 + 10 * np.sin(3 * x + 2 * y),
        boundary=lambda u, x, y: u.dn + rate * u,
    )
    exact, found = sf.solve(problem, tol=0.01 * tol), sf.solve(problem, tol=tol)
    points = np.array(corners, dtype=float)
    error = float(np.abs(found(*points.T) - exact(*points.T)).max())
    assert found.converged and error < tol and error < 1.2 * found.error_estimate
