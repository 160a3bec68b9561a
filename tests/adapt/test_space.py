"""The default in two dimensions and more: every kind of condition, domain, equation and outcome."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.catalog import OUTFLOW
from sharpfront.errors import DomainError
from sharpfront.geometry import Box

SQUARE = Box((0, 1), (0, 1))
PI = math.pi


def exact(x, y):
    return np.exp(x) * np.sin(2 * y)


def slope_y(x, y):
    return 2 * np.exp(x) * np.cos(2 * y)


def poisson(u, x, y):
    return sf.laplacian(u) + 3 * exact(x, y)


def given(u, x, y):
    return u - exact(x, y)


def zero(u, x, y):
    return u


def flux(u, x, y):
    return u.dn - exact(x, y).dn


def layers(u, x, y):
    return -1e-4 * sf.laplacian(u) + u.dx + u.dy - 1


def error_of(solution, truth, unknown="u"):
    """The largest error inside and on the boundary."""
    domain = solution.domain
    rim = [domain.boundary(part, 40).points for part in domain.parts]
    points = np.concatenate([domain.sample(400), *rim])
    field = getattr(solution, unknown)
    return float(np.abs(field(*points.T, extrapolate=True) - truth(*points.T)).max())


def assert_solved(problem, truth, tol=1e-8, **settings):
    solution = sf.solve(problem, tol=tol, **settings)
    error = error_of(solution, truth)
    assert solution.converged, solution.outcome
    assert error < 2 * tol
    assert error < 5 * solution.error_estimate + 1e-11
    return solution


# --- conditions -------------------------------------------------------------------------------

CONDITIONS = {
    "dirichlet": {"boundary": given},
    "neumann and a point": {
        "boundary": flux,
        "conditions": sf.at((0.5, 0.25), lambda u, x, y: u - math.exp(0.5) * math.sin(0.5)),
    },
    "neumann and an integral": {
        "boundary": flux,
        "conditions": sf.integral(lambda u, x, y: u, equals=(math.e - 1) * (1 - math.cos(2)) / 2),
    },
    "robin": {"boundary": lambda u, x, y: u.dn + 2 * u - exact(x, y).dn - 2 * exact(x, y)},
    "mixed": {
        "boundary": given,
        "right": lambda u, x, y: u.dn - exact(x, y),
        "top": lambda u, x, y: u.dn + u - slope_y(x, y) - exact(x, y),
        "bottom": lambda u, x, y: u.dn + slope_y(x, y),
    },
    "oblique": {
        "boundary": given,
        "right": lambda u, x, y: u.dx + 0.5 * u.dy - exact(x, y) - 0.5 * slope_y(x, y),
    },
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_kind_of_condition(name):
    solution = assert_solved(sf.Problem(SQUARE, poisson, **CONDITIONS[name]), exact)
    assert solution.kernels < 700
    assert len(solution.history) <= 4


def test_periodic_along_one_axis():
    def truth(x, y):
        return np.sin(2 * PI * x) * np.exp(y)

    problem = sf.Problem(
        Box((0, 1), (0, 1), periodic=("x",)),
        lambda u, x, y: sf.laplacian(u) - (1 - 4 * PI**2) * truth(x, y),
        boundary=lambda u, x, y: u - truth(x, y),
    )
    solution = assert_solved(problem, truth)
    y = np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution(0, y), solution(1, y), atol=1e-8)
    np.testing.assert_allclose(solution.d("x")(0, y), solution.d("x")(1, y), atol=1e-6)


@pytest.mark.parametrize(
    "pin",
    [sf.at((0.25, 0.0), lambda u, x, y: u - 1), sf.integral(lambda u, x, y: u)],
    ids=["at", "integral"],
)
def test_periodic_along_both_axes(pin):
    def truth(x, y):
        return np.sin(2 * PI * x) * np.cos(2 * PI * y)

    problem = sf.Problem(
        Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y: sf.laplacian(u) + 8 * PI**2 * truth(x, y),
        conditions=pin,
    )
    assert_solved(problem, truth)


# --- equations --------------------------------------------------------------------------------


def test_variable_coefficients_and_a_cross_derivative():
    def equation(u, x, y):
        e = exact(x, y)
        left = (1 + x * y) * u.dxx + 0.4 * u.dxy + (2 - x) * u.dyy + np.sin(x) * u.dx - u
        right = (1 + x * y) * e + 0.4 * slope_y(x, y) - 4 * (2 - x) * e + np.sin(x) * e - e
        return left - right

    assert_solved(sf.Problem(SQUARE, equation, boundary=given), exact)


# --- domains ----------------------------------------------------------------------------------

DOMAINS = {
    "disk": sf.Disk((0.3, 0.3), 0.8),
    "difference": SQUARE - sf.Disk((0.5, 0.5), 0.25),
}


def test_slopes_on_a_shape():
    problem = sf.Problem(
        DOMAINS["disk"],
        poisson,
        boundary=flux,
        conditions=sf.at((0.5, 0.25), lambda u, x, y: u - math.exp(0.5) * math.sin(0.5)),
    )
    assert_solved(problem, exact)


def test_points_outside_are_refused():
    solution = sf.solve(sf.Problem(DOMAINS["difference"], poisson, boundary=given), tol=1e-3)
    for point in [(0.5, 0.5), (1.5, 0.5), (0.5, -1e-3)]:
        with pytest.raises(DomainError, match="outside"):
            solution(*point)
    assert solution(0.1, 0.1) == pytest.approx(exact(0.1, 0.1), abs=1e-2)
    assert np.isfinite(solution(0.5, 0.5, extrapolate=True))


def test_derivatives_of_the_solution():
    solution = sf.solve(sf.Problem(SQUARE, poisson, boundary=given), tol=1e-9)
    x, y = SQUARE.sample(100).T
    np.testing.assert_allclose(solution.d("x")(x, y), exact(x, y), atol=1e-7)
    np.testing.assert_allclose(solution.d("y")(x, y), slope_y(x, y), atol=1e-7)
    np.testing.assert_allclose(solution.d("x").d("y")(x, y), slope_y(x, y), atol=1e-5)
    assert np.abs(solution.residual(x, y)).max() < 1e-6


# --- outcomes ---------------------------------------------------------------------------------

SINGULAR = {
    "resonance": sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u) + 2 * PI**2 * u, boundary=zero),
    "resonance with a source": sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) + 2 * PI**2 * u - x, boundary=zero
    ),
    "neumann": sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u.dn),
    "neumann on a disk": sf.Problem(
        sf.Disk((0, 0), 1), lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u.dn
    ),
    "periodic without a pin": sf.Problem(
        Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y: sf.laplacian(u) - np.sin(2 * PI * x),
    ),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_problems_with_many_solutions_are_told(name):
    solution = sf.solve(SINGULAR[name], tol=1e-6)
    told = {"near-singular": ("amplified", "grows to"), "ill-posed": ("any constant may be added",)}
    assert not solution.converged
    assert any(words in solution.outcome.detail for words in told[solution.outcome.kind])


@pytest.mark.parametrize("shift", [-4.0, 4.0])
def test_beside_a_resonance_all_is_well(shift):
    c = 2 * PI**2 + shift
    problem = sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) + c * u - (c - 3) * exact(x, y), boundary=given
    )
    assert_solved(problem, exact)


def test_the_most_kernels_count_all_unknowns():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (sf.laplacian(u) - 900 * v, sf.laplacian(v) + np.sin(20 * x * y)),
        boundary=lambda u, v, x, y: (u, v),
    )
    seen = []
    sf.solve(problem, tol=1e-9, max_kernels=150, on_step=seen.append)
    assert max(record.kernels for record in seen) <= 150


def test_a_tolerance_below_rounding_stalls_and_gives_the_best_solution():
    solution = sf.solve(sf.Problem(SQUARE, poisson, boundary=given), tol=1e-15)
    assert solution.outcome.kind == "stalled"
    assert solution.error_estimate < 1e-12
    assert error_of(solution, exact) < 1e-12
    estimates = [record.error_estimate for record in solution.history]
    assert solution.error_estimate == min(estimates)
    assert solution.kernels == solution.history[int(np.argmin(estimates))].kernels


@pytest.mark.parametrize("name", ["mixed", "dirichlet"])
def test_the_same_bits_twice(name):
    problem = sf.Problem(SQUARE, poisson, **CONDITIONS[name])
    one, other = (sf.solve(problem, tol=1e-6) for _ in range(2))
    x, y = SQUARE.sample(50).T
    np.testing.assert_array_equal(one(x, y), other(x, y))
    assert one.error_estimate == other.error_estimate


def test_the_same_bits_twice_with_layers_and_on_shapes():
    for problem in (OUTFLOW.problem(1e-3), sf.Problem(DOMAINS["disk"], poisson, boundary=given)):
        weights = [sf.solve(problem, tol=1e-5).approximation.weights["u"] for _ in range(2)]
        np.testing.assert_array_equal(*weights)


# --- what the problem leaves open ---------------------------------------------------------------


def test_an_elliptic_equation_without_a_condition_somewhere_is_ill_posed():
    ring = sf.Disk((0, 0), 1) - sf.Disk((0, 0), 0.4).named("hole")
    problem = sf.Problem(ring, lambda u, x, y: sf.laplacian(u) - 1, surface=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-4)
    assert solution.outcome.kind == "ill-posed"
    assert "no condition on hole" in solution.outcome.detail


def test_advection_needs_no_condition_where_it_flows_out():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: u.dx + 0.5 * u.dy,
        left=lambda u, x, y: u - np.sin(y),
        bottom=lambda u, x, y: u - np.sin(-0.5 * x),
    )
    solution = sf.solve(problem, tol=1e-8)
    assert solution.converged
    assert solution(0.7, 0.3) == pytest.approx(np.sin(0.3 - 0.35), abs=1e-9)


def stokes(**options):
    def u_exact(x, y):
        return np.sin(x) * np.cos(y)

    def v_exact(x, y):
        return -np.cos(x) * np.sin(y)

    return sf.Problem(
        SQUARE,
        lambda u, v, p, x, y: (
            -sf.laplacian(u) + p.dx - 2 * u_exact(x, y) - y,
            -sf.laplacian(v) + p.dy - 2 * v_exact(x, y) - x,
            u.dx + v.dy,
        ),
        boundary=lambda u, v, p, x, y: (u - u_exact(x, y), v - v_exact(x, y)),
        **options,
    )


def test_a_pressure_that_nothing_pins_is_named():
    solution = sf.solve(stokes(), tol=1e-6)
    assert solution.outcome.kind == "ill-posed"
    assert "any constant may be added to p" in solution.outcome.detail


def test_stokes_flow_with_a_pinned_pressure():
    pin = sf.at((0.5, 0.5), lambda u, v, p, x, y: p - 0.25)
    solution = sf.solve(stokes(conditions=pin), tol=1e-6)
    assert solution.converged
    assert solution.u(0.7, 0.3) == pytest.approx(np.sin(0.7) * np.cos(0.3), abs=1e-9)
    assert solution.p(0.7, 0.3) == pytest.approx(0.21, abs=1e-8)


def test_a_system_on_the_line_with_layers_of_two_widths():
    e1, e2 = 1e-6, 1e-3
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (-e1 * u.dxx + 2 * u - v - 1, -e2 * v.dxx + 2 * v - u - 1),
        boundary=lambda u, v, x: (u, v),
    )
    solution = sf.solve(problem, tol=1e-6)
    values, vectors = np.linalg.eig(np.array([[2 / e1, -1 / e1], [-1 / e2, 2 / e2]]))
    start = np.linalg.solve(vectors, -np.ones(2))
    x = np.unique(
        np.concatenate([[0, 1], np.geomspace(1e-7, 0.5, 200), 1 - np.geomspace(1e-7, 0.5, 200)])
    )
    root = np.sqrt(values)[:, None]
    modes = (np.exp(-x * root) + np.exp(-(1 - x) * root)) / (1 + np.exp(-root))
    exact = 1 + vectors @ (start[:, None] * modes)
    assert solution.converged
    assert np.abs(solution.u(x) - exact[0]).max() < 1e-6
    assert np.abs(solution.v(x) - exact[1]).max() < 1e-6
