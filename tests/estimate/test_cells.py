"""The auxiliary solver: exact for constants, of second order otherwise, with any conditions."""

import mpmath as mp
import numpy as np
import pytest
from scipy.sparse.linalg import splu

from sharpfront.errors import ProblemError
from sharpfront.estimate import cells as cells_module
from sharpfront.estimate.cells import CellSystem, SingularCellsError, grid
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem, Term


def condition(value, *terms):
    return LinearCondition(tuple(terms), value)


DIRICHLET = (condition(0.5, Term(0.0)), condition(2.0, Term(1.0)))


def cells(problem, nodes):
    points = grid(nodes)
    data = problem.sample(points.middles)
    return CellSystem(points, data[:-1], problem.conditions), data[-1]


def nodal(problem, nodes):
    system, source = cells(problem, nodes)
    return system.solve(source, problem.values)


def meshes():
    rng = np.random.default_rng(0)
    inner = np.sort(rng.random(37))
    return {
        "even": np.linspace(0, 1, 41),
        "random": np.concatenate([[0.0], inner, [1.0]]),
        "graded": np.concatenate([[0.0], np.geomspace(1e-12, 1.0, 40)]),
        "two cells": np.array([0.0, 0.3, 1.0]),
    }


MESHES = meshes()


def exact(a, b, c, nodes, values, order=0):
    """a u'' + b u' + c u = 1 with u given at both ends, in sixty digits; not b = c = 0."""
    with mp.workdps(60):
        a, b, c = mp.mpf(a), mp.mpf(b), mp.mpf(c)
        root = mp.sqrt(b * b - 4 * a * c)
        rates = [(-b + root) / (2 * a), (-b - root) / (2 * a)]
        # Measured from the end at which it is one.
        anchors = [mp.mpf(1) if mp.re(r) > 0 else mp.mpf(0) for r in rates]

        def mode(k, x, j=0):
            return rates[k] ** j * mp.exp(rates[k] * (x - anchors[k]))

        def particular(x, j=0):
            if c != 0:
                return 1 / c if j == 0 else mp.mpf(0)
            return x / b if j == 0 else 1 / b

        ends = [mp.mpf(0), mp.mpf(1)]
        matrix = mp.matrix([[mode(0, x), mode(1, x)] for x in ends])
        right = mp.matrix([v - particular(x) for v, x in zip(values, ends, strict=True)])
        A, B = mp.lu_solve(matrix, right)
        xs = [mp.mpf(float(x)) for x in nodes]
        return np.array(
            [
                float(mp.re(A * mode(0, x, order) + B * mode(1, x, order) + particular(x, order)))
                for x in xs
            ]
        )


CONSTANT = [
    (-eps, b, c)
    for eps in (1.0, 1e-2, 1e-4, 1e-7, 1e-10)
    for b, c in ((1.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (-1.0, 2.0), (0.0, 1.0), (0.0, 30.0))
]


@pytest.mark.parametrize("nodes", MESHES.values(), ids=MESHES.keys())
@pytest.mark.parametrize("a, b, c", CONSTANT)
def test_nodal_values_are_exact_for_constant_coefficients(a, b, c, nodes):
    """Whatever the mesh and the layer; 2e-7 is what the series for short cells leave."""
    problem = LineProblem((0.0, 1.0), (c, b, a), 1.0, DIRICHLET)
    got = nodal(problem, nodes)
    assert got.shape == (2, len(nodes))
    u = exact(a, b, c, nodes, (0.5, 2.0))
    np.testing.assert_allclose(got[0], u, rtol=0, atol=5e-7 * np.abs(u).max())
    slope = exact(a, b, c, nodes, (0.5, 2.0), 1)
    # A slope is a difference over a cell: rounding over 1e-12 leaves four digits.
    tolerance = 2e-6 + 1e-15 / np.diff(nodes).min()
    np.testing.assert_allclose(got[1], slope, rtol=0, atol=tolerance * np.abs(slope).max())


@pytest.mark.parametrize("a, b", [(-1e-4, 1.0), (-1e-7, -1.0), (-1e-10, 1.0), (-1e-13, -3.0)])
def test_layers_far_narrower_than_a_cell_are_exact_to_rounding(a, b):
    nodes = np.linspace(0, 1, 21)
    got = nodal(LineProblem((0.0, 1.0), (0.0, b, a), 1.0, DIRICHLET), nodes)[0]
    np.testing.assert_allclose(got, exact(a, b, 0, nodes, (0.5, 2.0)), rtol=0, atol=1e-13)


@pytest.mark.parametrize("a, c, count", [(1.0, 30.0, 20), (1e-2, 1.0, 40), (1e-4, 1.0, 120)])
def test_oscillations_are_exact_while_a_cell_holds_less_than_half_a_wave(a, c, count):
    nodes = np.linspace(0, 1, count + 1)
    got = nodal(LineProblem((0.0, 1.0), (c, 0.0, a), 1.0, DIRICHLET), nodes)[0]
    u = exact(a, 0, c, nodes, (0.5, 2.0))
    assert np.abs(np.diff(np.sign(u))).sum() >= 2
    np.testing.assert_allclose(got, u, rtol=0, atol=2e-6 * np.abs(u).max())


def test_pure_diffusion():
    nodes = MESHES["random"]
    got = nodal(LineProblem((0.0, 1.0), (0.0, 0.0, -2.0), 1.0, DIRICHLET), nodes)
    expected = 0.5 + 1.5 * nodes + nodes * (1 - nodes) / 4
    np.testing.assert_allclose(got[0], expected, atol=1e-12)
    np.testing.assert_allclose(got[1], 1.5 + (1 - 2 * nodes) / 4, atol=1e-10)


def test_equal_cells_are_one_cell_repeated():
    """The shortcut for a uniform grid with constant coefficients."""
    nodes = np.linspace(0, 1, 33)
    problem = LineProblem((0.0, 1.0), (1.0, 0.5, -1e-3), 1.0, DIRICHLET)
    nudged = nodes.copy()
    nudged[5] += 1e-9
    np.testing.assert_allclose(nodal(problem, nodes), nodal(problem, nudged), rtol=1e-5, atol=1e-6)
    assert len(cells(problem, nodes)[0].slopes.ll) == 32


# --- variable coefficients --------------------------------------------------------------------


def manufactured(order, conditions, coefficients=None):
    """u = exp(sin 3x) solves sum_j c_j u^(j) = f."""
    derivatives = [lambda x, j=j: derivative(x, j) for j in range(5)]
    c = coefficients or (
        lambda x: 1 + x**2,
        lambda x: np.cos(2 * x),
        lambda x: -1 - 0.5 * np.sin(x),
        lambda x: 2 + x,
        lambda x: 1 + 0.3 * x,
    )
    if order == 1:
        c = (c[0], lambda x: 2 + x)
    c = tuple(c[: order + 1])

    def source(x):
        return sum(f(x) * derivatives[j](x) for j, f in enumerate(c))

    return LineProblem((0.0, 1.0), c, source, conditions)


def derivative(x, j):
    """Derivatives of exp(sin 3x)."""
    s, k = np.sin(3 * x), np.cos(3 * x)
    factors = [
        1.0,
        3 * k,
        9 * (k**2 - s),
        27 * (k**3 - 3 * s * k - k),
        81 * (k**4 - 6 * s * k**2 - 4 * k**2 + 3 * s**2 + s),
    ]
    return factors[j] * np.exp(s)


def value(x, j, weight=1.0):
    return float(weight * derivative(np.array(x), j))


def test_the_manufactured_derivatives_are_right():
    x, h = np.linspace(0, 1, 7), 1e-5
    for j in range(4):
        difference = (derivative(x + h, j) - derivative(x - h, j)) / (2 * h)
        np.testing.assert_allclose(difference, derivative(x, j + 1), rtol=1e-7, atol=1e-6)


def at(x, j, weight=1.0):
    return condition(value(x, j, weight), Term(x, j, weight))


T, W = np.polynomial.legendre.leggauss(40)
INTEGRAL = 0.5 * float(W @ (derivative(0.5 + 0.5 * T, 0) * (1.5 + 0.5 * T)))
SLOPE_INTEGRAL = 0.5 * float(W @ (derivative(0.5 + 0.5 * T, 1) * (1.5 + 0.5 * T)))
PERIODIC = condition(value(0.0, 0) - value(1.0, 0), Term(0.0), Term(1.0, 0, -1.0))
SEAM = condition(value(0.0, 1) - value(1.0, 1), Term(0.0, 1), Term(1.0, 1, -1.0))
ROBIN = condition(2 * value(1.0, 0) + 3 * value(1.0, 1), Term(1.0, 0, 2.0), Term(1.0, 1, 3.0))

CONDITIONS = {
    "dirichlet": (2, (at(0.0, 0), at(1.0, 0))),
    "the other way round": (2, (at(1.0, 0), at(0.0, 0))),
    "weighted": (2, (at(0.0, 0, -4.0), at(1.0, 0, 0.01))),
    "neumann left": (2, (at(0.0, 1), at(1.0, 0))),
    "neumann right": (2, (at(0.0, 0), at(1.0, 1, 7.0))),
    "robin": (2, (at(0.0, 0), ROBIN)),
    "initial values": (2, (at(0.0, 0), at(0.0, 1))),
    "final values": (2, (at(1.0, 1), at(1.0, 0))),
    "inside at a node": (2, (at(0.0, 0), at(0.5, 0))),
    "inside a cell": (2, (at(0.0, 0), at(0.4321, 0))),
    "slope inside": (2, (at(0.0, 0), at(0.4321, 1))),
    "integral": (2, (at(0.0, 0), condition(INTEGRAL, IntegralTerm(lambda x: 1 + x)))),
    "integral of the slope": (
        2,
        (at(0.0, 0), condition(SLOPE_INTEGRAL, IntegralTerm(lambda x: 1 + x, 1))),
    ),
    "integral and value": (
        2,
        (
            at(1.0, 0),
            condition(
                INTEGRAL + 2 * value(0.3, 0),
                IntegralTerm(lambda x: 1 + x),
                Term(0.3, 0, 2.0),
            ),
        ),
    ),
    "periodic": (2, (PERIODIC, SEAM)),
    "order one from the left": (1, (at(0.0, 0),)),
    "order one from inside": (1, (at(0.6, 0),)),
    "order one with an integral": (
        1,
        (condition(INTEGRAL, IntegralTerm(lambda x: 1 + x)),),
    ),
    "order three": (3, (at(0.0, 0), at(0.0, 1), at(1.0, 0))),
    "order three, second derivative": (3, (at(0.0, 0), at(1.0, 1), at(0.0, 2))),
    "order three, initial values": (3, (at(0.0, 0), at(0.0, 1), at(0.0, 2))),
    "order three, integral": (
        3,
        (at(0.0, 0), at(1.0, 0), condition(INTEGRAL, IntegralTerm(lambda x: 1 + x))),
    ),
    "clamped": (4, (at(0.0, 0), at(0.0, 1), at(1.0, 0), at(1.0, 1))),
    "supported": (4, (at(0.0, 0), at(0.0, 2), at(1.0, 0), at(1.0, 2))),
    "free end": (4, (at(0.0, 0), at(0.0, 1), at(1.0, 2), at(1.0, 3))),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_second_order_convergence(name):
    """Halving the cells divides the errors of u and of all derivatives below m by four."""
    order, conditions = CONDITIONS[name]
    problem = manufactured(order, conditions)
    errors = []
    for count in (80, 160, 320):
        nodes = np.linspace(0, 1, count + 1) ** 1.2
        got = nodal(problem, nodes)
        assert got.shape == (max(order, 2), count + 1)
        errors.append([np.abs(got[j] - derivative(nodes, j)).max() for j in range(order)])
    errors = np.array(errors)
    scale = [np.abs(derivative(np.linspace(0, 1, 50), j)).max() for j in range(order)]
    assert np.all(errors[-1] < 2e-3 * np.array(scale))
    if "inside" in name:
        # Where in its cell the point lies changes from grid to grid.
        assert np.all(errors[0] / errors[2] > 8)
    else:
        assert np.all(errors[:-1] / errors[1:] > 3.5)


@pytest.mark.parametrize("c0, c1", [(2.0, 1.0), (-5.0, 1.0), (1.0, -1e-3), (0.0, 3.0), (1e4, 1.0)])
def test_order_one_is_exact_for_constants(c0, c1):
    nodes = MESHES["random"]
    start = 0.0 if c0 / c1 >= 0 else 1.0
    problem = LineProblem((0.0, 1.0), (c0, c1), 2.0, (condition(3.0, Term(start)),))
    got = nodal(problem, nodes)[0]
    gap = nodes - start
    exact = 3 + 2 * gap / c1
    if c0:
        exact = 2 / c0 + (3 - 2 / c0) * np.exp(-c0 / c1 * gap)
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-12)


# --- layers that no cell resolves -------------------------------------------------------------


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("b", [1.0, -1.0])
def test_no_oscillation_on_an_unresolved_layer(eps, b):
    ends = (condition(0.0, Term(0.0)), condition(1.0, Term(1.0)))
    for nodes in MESHES.values():
        u = nodal(LineProblem((0.0, 1.0), (0.0, b, -eps), 0.0, ends), nodes)[0]
        assert np.all(np.diff(u) >= -1e-14)
        # Cells as thin as the layer cost digits: conditions weigh 1, cells 1 / length.
        rounding = 1e-14 + 1e-20 / np.diff(nodes).min()
        assert u.min() >= -rounding
        assert u.max() <= 1 + rounding


@pytest.mark.parametrize("eps", [1e-2, 1e-5, 1e-9])
def test_no_oscillation_at_a_turning_point_or_with_reaction(eps):
    ends = (condition(-1.0, Term(-1.0)), condition(1.0, Term(1.0)))
    nodes = np.linspace(-1, 1, 52)
    front = LineProblem((-1.0, 1.0), (0.0, lambda x: -2 * x, -eps), 0.0, ends)
    assert np.all(np.diff(nodal(front, nodes)[0]) >= -1e-13)
    layers = LineProblem((-1.0, 1.0), (lambda x: 2 + x, 0.0, -eps), 0.0, ends)
    assert np.all(np.diff(nodal(layers, nodes)[0]) >= -1e-13)


# --- the system itself ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dirichlet", "robin", "periodic", "order three", "clamped"])
def test_one_factorisation_serves_many_right_hand_sides(name):
    problem = manufactured(*CONDITIONS[name])
    system, source = cells(problem, np.linspace(0, 1, 51))
    first = system.solve(source, problem.values)
    before = source.copy(), problem.values.copy()
    other = system.solve(2 * source, 2 * problem.values)
    np.testing.assert_allclose(other, 2 * first, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(system.solve(source, problem.values), first)
    np.testing.assert_array_equal(source, before[0])
    assert not np.any(system.solve(0 * source, 0 * problem.values))


def test_an_integral_does_not_fill_the_factors(monkeypatch):
    """A dense row as an early pivot would make every later row dense: memory as its square."""
    filled = []

    def recorded(*args, **options):
        factor = splu(*args, **options)
        filled.append(factor.L.nnz + factor.U.nnz)
        return factor

    monkeypatch.setattr(cells_module, "splu", recorded)
    counts = (100, 400)
    for name in ("integral", "order three, integral"):
        filled.clear()
        for count in counts:
            cells(manufactured(*CONDITIONS[name]), np.linspace(0, 1, count + 1))
        assert filled[1] < 5 * filled[0]
        assert filled[1] < 60 * counts[1]


@pytest.mark.parametrize("unit", [1e-200, 1e-24, 1e-9, 1e24])
@pytest.mark.parametrize("other", [Term(1.0), Term(0.0, 1)])
def test_units_of_a_condition_cost_no_digits(unit, other):
    """In SI units a condition is 1e-12 of its neighbours; so small a row was no pivot."""
    nodes = np.linspace(0, 1, 801)

    def found(weight):
        first = condition(0.5 * weight, Term(0.0, 0, weight))
        problem = LineProblem((0.0, 1.0), (-400.0, 1.0, 1.0), 1.0, (first, condition(2.0, other)))
        return nodal(problem, nodes)[0]

    plain = found(1.0)
    assert np.abs(found(unit) - plain).max() < 1e-12 * np.abs(plain).max()


def test_the_definition_of_the_second_unknown_may_have_a_residual():
    """u' - w = g, w'' = 0 with w = 1, u(0) = 0: u = x + the integral of g."""
    nodes = np.linspace(0, 1, 81)
    conditions = (
        condition(0.0, Term(0.0)),
        condition(1.0, Term(0.0, 1)),
        condition(1.0, Term(1.0, 1)),
    )
    problem = LineProblem((0.0, 1.0), (0.0, 0.0, 0.0, 1.0), 0.0, conditions)
    system, source = cells(problem, nodes)
    g = np.cos(system.grid.middles)
    got = system.solve(source, problem.values, g)
    np.testing.assert_allclose(got[1], 1.0, atol=1e-11)
    np.testing.assert_allclose(got[0], nodes + np.sin(nodes), atol=1e-4)


def test_the_definition_at_order_four_belongs_to_the_second_derivative():
    """u' = v, v' - w = g, w = 0: v is the integral of g, and u of v."""
    nodes = np.linspace(0, 1, 161)
    conditions = tuple(
        condition(0.0, Term(x, j)) for x, j in [(0.0, 0), (0.0, 1), (0.0, 2), (1.0, 2)]
    )
    problem = LineProblem((0.0, 1.0), (0.0,) * 4 + (1.0,), 0.0, conditions)
    system, source = cells(problem, nodes)
    got = system.solve(source, problem.values, np.cos(system.grid.middles))
    np.testing.assert_allclose(got[0], 1 - np.cos(nodes), atol=1e-4)
    np.testing.assert_allclose(got[1], np.sin(nodes), atol=1e-4)
    np.testing.assert_allclose(got[2], 0.0, atol=1e-11)


NO_SLOPES = (condition(0.0, Term(0.0, 1)), condition(1.0, Term(1.0, 1)))
SINGULAR = {
    "a constant is free": ((0.0, 0.0, 1.0), NO_SLOPES),
    "twice the same condition": ((1.0, 0.0, 1.0), (condition(1.0, Term(0.0)),) * 2),
    "no equation in some cells": ((0.0, 0.0, lambda x: np.where(x > 0.5, 1.0, 0.0)), DIRICHLET),
    "order one without slope": ((1.0, 0.0), (condition(1.0, Term(0.0)),)),
    "order three, a constant is free": (
        (0.0, 0.0, 0.0, 1.0),
        (condition(0.0, Term(0.0, 1)), condition(0.0, Term(1.0, 1)), condition(0.0, Term(0.0, 2))),
    ),
}


@pytest.mark.parametrize("coefficients, conditions", SINGULAR.values(), ids=SINGULAR.keys())
def test_singular_systems_say_so(coefficients, conditions):
    problem = LineProblem((0.0, 1.0), coefficients, 1.0, conditions)
    with pytest.raises(SingularCellsError, match="singular"):
        nodal(problem, np.linspace(0, 1, 33))


TOO_HIGH = [
    *((m, Term(0.0, j)) for m, j in [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (4, 4), (4, 6)]),
    *((m, IntegralTerm(1.0, j)) for m, j in [(1, 2), (2, 2), (2, 3), (3, 3), (4, 4), (4, 6)]),
]


@pytest.mark.parametrize("order, term", TOO_HIGH)
def test_conditions_on_derivatives_beyond_the_order_are_refused(order, term):
    others = tuple(condition(0.0, Term(0.0, j)) for j in range(order - 1))
    problem = LineProblem((0.0, 1.0), (1.0,) * (order + 1), 0.0, (*others, condition(1.0, term)))
    text = (
        f"order {order} takes .* up to {order - 1}, got one on a derivative of order {term.order}"
    )
    with pytest.raises(ProblemError, match=text):
        nodal(problem, np.linspace(0, 1, 9))


def test_grid():
    points = grid(np.array([0.0, 0.25, 1.0]))
    assert points.steps.tolist() == [0.25, 0.75]
    assert points.middles.tolist() == [0.125, 0.625]
