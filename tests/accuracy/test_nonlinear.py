"""Nonlinear problems at tol = 1e-8 on the line, and at 1e-6 in the plane, from default guesses."""

import mpmath
import numpy as np
import pytest
from tests.lazy import Lazy

import sharpfront as sf
from sharpfront import catalog
from sharpfront.catalog import formulas
from sharpfront.measure import Feature, graded_points, max_error

integrate = Lazy("scipy.integrate")

TOL = 1e-8
# Newton steps on kernels, and linear solves on cells, that each problem may take.
MOST = {
    "burgers-source": (6, 100),
    "pinned-shock": (5, 50),
    "reaction-layer": (4, 20),
    "twin-reaction": (4, 25),
    "bratu": (3, 10),
    "bratu-upper": (3, 60),
    "troesch": (7, 90),
    "beam": (4, 25),
}
CASES = [(entry, value) for entry in map(catalog.named, MOST) for value in entry.values]
NAMES = [f"{entry.name} {value:g}" for entry, value in CASES]


@pytest.mark.parametrize(("entry", "value"), CASES, ids=NAMES)
def test_solved_and_certified(entry, value):
    solution = sf.solve(entry.problem(value), tol=TOL, guess=entry.guess)
    exact, points = entry.exact(value), entry.points(value)
    error = max_error(solution, exact, points)
    assert solution.converged, str(solution.outcome)
    assert error < 1e-7
    assert error <= 3 * solution.error_estimate + 1e-13
    assert solution.error_estimate <= 100 * max(error, 1e-13)
    steps, cells = MOST[entry.name]
    assert solution.diagnostics["newton_steps"] <= steps
    assert solution.diagnostics["rough_solves"] <= cells
    assert len(solution.history) == solution.diagnostics["newton_steps"]


def test_troesch_slopes_are_the_known_ones():
    assert 2 * formulas.troesch_pole(5.0)[0] == pytest.approx(4.57504614063e-2, rel=1e-11)
    assert 2 * formulas.troesch_pole(10.0)[0] == pytest.approx(3.583377846307e-4, rel=1e-11)
    solution = sf.solve(catalog.TROESCH.problem(5.0), tol=1e-10)
    assert solution.d("x")(0.0) == pytest.approx(4.57504614063e-2, abs=1e-8)


@pytest.mark.parametrize("mu", [0.5, 3.0, 5.0, 10.0, 15.0])
def test_troesch_is_known_to_rounding(mu):
    """By quadrature of dx = du / sqrt(s^2 + 4 sinh(mu u / 2)^2), to 30 digits."""
    with mpmath.workdps(30):

        def place(u, s):
            end = mpmath.asinh(2 * mpmath.sinh(mu * u / 2) / s)
            cuts = mpmath.linspace(0, end, 7)
            return mpmath.quad(
                lambda t: 1 / (mu * mpmath.sqrt(1 + (s / 2 * mpmath.sinh(t)) ** 2)), cuts
            )

        slope = mpmath.mpf(2 * formulas.troesch_pole(mu)[0])
        s = mpmath.exp(mpmath.findroot(lambda v: place(1, mpmath.exp(v)) - 1, mpmath.log(slope)))
        assert abs(slope / s - 1) < 1e-14
        exact = catalog.TROESCH.exact(mu)
        for x in (0.3, 0.49, 0.7, 0.99, 1.0):
            u = mpmath.mpf(float(exact(x)))
            steep = mpmath.sqrt(s**2 + 4 * mpmath.sinh(mu * u / 2) ** 2)
            assert abs((place(u, s) - x) * steep) < 1e-14


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("strength", [0.1, 1.0, 3.5])
def test_bratu_is_known_to_rounding(strength, upper):
    entry = catalog.BRATU_UPPER if upper else catalog.BRATU
    with mpmath.workdps(30):
        start = formulas.bratu_parameter(strength, upper)
        t = mpmath.findroot(lambda t: t - mpmath.sqrt(2 * strength) * mpmath.cosh(t / 4), start)
        for x in (0.0, 0.1, 0.5, 0.77):
            cosh = mpmath.cosh((mpmath.mpf(x) - 0.5) * t / 2) / mpmath.cosh(t / 4)
            assert abs(float(entry.exact(strength)(x)) + 2 * mpmath.log(cosh)) < 1e-14


def friction(nu):
    """Return a shock that friction holds in its place, its equation for solve_bvp and its end."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + u * u.dx + u,
        left=lambda u, x: u - 1,
        right=lambda u, x: u + 0.5,
    )
    return (
        problem,
        lambda x, y: np.vstack([y[1], (y[0] * y[1] + y[0]) / nu]),
        lambda a, b: np.array([a[0] - 1, b[0] + 0.5]),
    )


def transition(eps):
    """Return a front between -1 and 1 that stands where the middle root crosses zero."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -(eps**2) * u.dxx + (u - 0.5 * (0.37 - x)) * (u**2 - 1),
        left=lambda u, x: u + 1,
        right=lambda u, x: u - 1,
    )
    return (
        problem,
        lambda x, y: np.vstack([y[1], (y[0] - 0.5 * (0.37 - x)) * (y[0] ** 2 - 1) / eps**2]),
        lambda a, b: np.array([a[0] + 1, b[0] - 1]),
    )


def cole(nu):
    """Return Lagerstrom and Cole's problem with its two corners."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: nu * u.dxx + u * u.dx - u,
        left=lambda u, x: u + 1 / 3,
        right=lambda u, x: u - 1 / 3,
    )
    return (
        problem,
        lambda x, y: np.vstack([y[1], (y[0] - y[0] * y[1]) / nu]),
        lambda a, b: np.array([a[0] + 1 / 3, b[0] - 1 / 3]),
    )


# The peer's tolerance: rounding keeps it from a smaller one on the stiffest.
REFERENCES = [(friction, 1e-2, 1e-7), (friction, 1e-3, 1e-7), (friction, 1e-4, 1e-5)]
REFERENCES += [(cole, 1e-2, 1e-7), (cole, 1e-4, 1e-7)]
REFERENCES += [(transition, 1e-1, 1e-7), (transition, 1e-2, 1e-7)]


@pytest.mark.parametrize(
    ("statement", "value", "tol"),
    REFERENCES,
    ids=[f"{f.__name__} {v:g}" for f, v, _ in REFERENCES],
)
def test_agrees_with_collocation_where_no_formula_is_known(statement, value, tol):
    problem, fun, bc = statement(value)
    solution = sf.solve(problem, tol=TOL)
    assert solution.converged, str(solution.outcome)
    # Started near our solution, on nodes that are dense in its layers, and solved on its own.
    (basis,) = solution.approximation.bases.values()
    nodes = np.concatenate([p.places.nodes.x for p in basis.patches])
    x = np.unique(np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])]))
    start = np.vstack([solution(x) + 1e-3 * np.sin(9 * x), solution.d("x")(x)])
    reference, coarser = (
        integrate.solve_bvp(fun, bc, x, start, tol=t, max_nodes=20_000) for t in (tol, 10 * tol)
    )
    assert reference.success
    features = [Feature(float(p), 1e-4) for p in (0.0, 0.37, 1.0)]
    points = np.union1d(graded_points(problem.domain, features), x)
    values = reference.sol(points)[0]
    assert np.abs(values - coarser.sol(points)[0]).max() < 3e-8
    assert np.abs(solution(points) - values).max() < 3e-8


@pytest.mark.parametrize(
    ("entry", "value"),
    [(catalog.ALLEN_CAHN, 1e-2), (catalog.REACTION_SHEET, 1e-1), (catalog.REACTION_SHEET, 1e-3)],
    ids=lambda item: getattr(item, "name", str(item)),
)
def test_in_the_plane(entry, value):
    solution = sf.solve(entry.problem(value), tol=1e-6)
    error = max_error(solution, entry.exact(value), entry.points(value, per_axis=90))
    assert solution.converged, str(solution.outcome)
    assert error < 1e-6
    assert error <= 3 * solution.error_estimate
    assert solution.diagnostics["newton_steps"] <= 8


def test_bratu_in_the_plane():
    solution = sf.solve(
        sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y: sf.laplacian(u) + np.exp(u),
            boundary=lambda u, x, y: u,
        ),
        tol=1e-5,
    )
    assert solution.converged
    # By Chebyshev collocation with 24 and 32 points, which agree to 3e-13; and five-point
    # differences with 40 to 320 cells, extrapolated twice, give 0.07810102.
    assert solution(0.5, 0.5) == pytest.approx(0.0781010226976, abs=1e-6)
