"""The error equation against errors that are known: perturbed, under-resolved, torn apart."""

import itertools

import numpy as np
import pytest

from sharpfront.bases import even_kernels as tables
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import line_patch
from sharpfront.estimate.line_error import check_line
from sharpfront.leastsquares import Blocked
from sharpfront.maps.mixture_axis import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.problem.line_problem import IntegralTerm, LinearCondition, LineProblem, Term
from sharpfront.rows.line_rows import condition_blocks, line_system


def ends(left, right):
    return (LinearCondition((Term(0.0),), left), LinearCondition((Term(1.0),), right))


def layered(eps, high=1.0):
    return None if eps >= 0.3 else Mixture(np.ones(1), np.array([high]), np.array([eps**2]))


def pieces(edges, kernels, order=2, eps=1.0):
    """Pieces between the edges; the last one with a layer of width eps at its end."""
    parts = []
    for i, (low, high) in enumerate(itertools.pairwise(edges)):
        mixture = layered(eps, high) if i == len(edges) - 2 else None
        parts.append(line_patch(mixture_axis(low, high, mixture), kernels, (low, high), order))
    return LineBasis(tuple(parts))


def solved(problem, basis):
    conditions = condition_blocks(problem, basis)
    system = line_system(problem, basis, conditions)
    method = Blocked(equilibrate=False)
    return method.solve(method.factor(system), system.rhs)[0], conditions


def gaps(basis):
    """The checking nodes of a single piece, measured from its right end."""
    (p,) = basis.patches
    nodes = p.places.nodes
    return (nodes.anchor - p.axis.high) + nodes.offset


def nodal_values(basis, weights):
    """u at the checking nodes of a single piece."""
    (p,) = basis.patches
    return tables.even_kernels(p.kernels).sums(
        tables.checking_nodes(p.kernels), weights[: p.width], 0
    )[0]


def ripple(p, function):
    """Weights of a function of the piece's coordinate, in one field."""
    s = tables.fitting_points(p.kernels)
    table = tables.kernel_table(p.kernels, 0)[0]
    return np.linalg.lstsq(table, function(s), rcond=None)[0]


def convection(eps):
    """-eps u'' + u' = 0, u = (exp((x - 1) / eps) - exp(-1 / eps)) / (1 - exp(-1 / eps))."""
    problem = LineProblem((0.0, 1.0), (0.0, 1.0, -eps), 0.0, ends(0.0, 1.0))
    return problem, lambda gap: (np.exp(gap / eps) - np.exp(-1 / eps)) / -np.expm1(-1 / eps)


def reaction(eps):
    """-eps^2 u'' + u = 0, u = sinh(x / eps) / sinh(1 / eps)."""
    problem = LineProblem((0.0, 1.0), (1.0, 0.0, -(eps**2)), 0.0, ends(0.0, 1.0))
    return (
        problem,
        lambda gap: (np.exp(gap / eps) * -np.expm1(-2 * (gap + 1) / eps)) / -np.expm1(-2 / eps),
    )


def variable(eps):
    """-eps u'' + (1 + x) u' + u = f with the same layer and a smooth part."""

    def exact(gap):
        return np.exp(gap / eps) + np.cos(gap + 1)

    def source(x):
        layer, smooth = np.exp((x - 1) / eps), -eps * -np.cos(x) - (1 + x) * np.sin(x) + np.cos(x)
        return layer * (-1 / eps + (1 + x) / eps + 1) + smooth

    values = ends(float(exact(np.array(-1.0))), float(exact(np.array(0.0))))
    problem = LineProblem((0.0, 1.0), (1.0, lambda x: 1 + x, -eps), source, values)
    return problem, exact


PROBLEMS = {"convection": convection, "reaction": reaction, "variable": variable}
every_problem = pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS.keys())


@every_problem
@pytest.mark.parametrize("eps", [1.0, 1e-2, 1e-5])
def test_a_known_perturbation_is_found_in_size_and_place(make, eps):
    problem, exact = make(eps)
    basis = pieces((0.0, 1.0), 70, eps=eps)
    weights, conditions = solved(problem, basis)
    bump = ripple(basis.patches[0], lambda s: 1e-3 * np.sin(np.pi * s) * np.cos(5 * s))
    check = check_line(problem, basis, weights + bump, conditions)
    true = exact(gaps(basis)) - nodal_values(basis, weights + bump)
    largest = np.abs(true).max()
    assert largest == pytest.approx(np.abs(nodal_values(basis, bump)).max(), rel=1e-3)
    assert check.error == pytest.approx(largest, rel=0.1)
    assert np.abs(check.profile - true).max() < 0.1 * largest


@every_problem
@pytest.mark.parametrize("eps", [1e-2, 1e-4])
@pytest.mark.parametrize("kernels", [6, 8])
def test_an_under_resolved_solution_gets_the_error_it_has(make, eps, kernels):
    problem, exact = make(eps)
    basis = pieces((0.0, 1.0), kernels, eps=eps)
    weights, conditions = solved(problem, basis)
    check = check_line(problem, basis, weights, conditions)
    true = exact(gaps(basis)) - nodal_values(basis, weights)
    assert np.abs(true).max() > 1e-8
    assert check.error == pytest.approx(np.abs(true).max(), rel=0.3)
    # Near the ends the residual turns within a cell: the shape is known less well than the size.
    assert np.abs(check.profile - true).max() < 0.5 * np.abs(true).max()


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-9])
def test_a_layer_that_has_no_kernels_is_seen_all_the_same(eps):
    """Twenty even kernels know nothing of the layer, and the estimate says so."""
    problem, exact = convection(eps)
    basis = pieces((0.0, 1.0), 20)
    weights, conditions = solved(problem, basis)
    check = check_line(problem, basis, weights, conditions)
    true = exact(gaps(basis)) - nodal_values(basis, weights)
    assert check.error == pytest.approx(np.abs(true).max(), rel=0.3)
    assert check.error > 0.03


@pytest.mark.parametrize("eps", [1.0, 1e-3])
def test_a_good_solution_has_a_small_error_and_a_floor_below_it(eps):
    problem, exact = variable(eps)
    basis = pieces((0.0, 1.0), 60, eps=eps)
    weights, conditions = solved(problem, basis)
    check = check_line(problem, basis, weights, conditions)
    assert 0 < check.floor < 1e-12
    assert check.error < 1e-9
    assert np.abs(check.misses).max() < 1e-10
    assert check.size == pytest.approx(np.abs(exact(gaps(basis))).max(), rel=1e-2)
    assert check.apart < 0.05
    np.testing.assert_allclose(check.direct, exact(gaps(basis)), atol=0.05)
    (p,) = basis.patches
    middles = p.places.middles
    np.testing.assert_allclose(
        check.values, exact((middles.anchor - 1.0) + middles.offset), atol=1e-9
    )


def test_misses_of_the_conditions_are_errors():
    """A constant solves u'' = u' and misses both ends; a line misses one."""
    problem, _ = convection(0.1)
    basis = pieces((0.0, 1.0), 40, eps=0.1)
    weights, conditions = solved(problem, basis)
    shift = ripple(basis.patches[0], lambda s: 0.01 + 0 * s)
    check = check_line(problem, basis, weights + shift, conditions)
    np.testing.assert_allclose(check.misses, -0.01, rtol=1e-6)
    np.testing.assert_allclose(check.profile, -0.01, rtol=1e-6)
    assert check.error == pytest.approx(0.01, rel=1e-6)
    # The size is that of the solution, not of what missed it.
    far = check_line(problem, basis, weights + 500 * shift, conditions)
    assert far.size == pytest.approx(1.0, rel=0.02)
    assert far.error == pytest.approx(5.0, rel=1e-6)
    assert far.apart == pytest.approx(5.0, rel=0.05)


def test_a_miss_of_an_integral_is_an_error():
    """u'' = 0, u(0) = 0, integral of u = 1/2: u = x; a solution twice as large is off by one."""
    conditions = (LinearCondition((Term(0.0),)), LinearCondition((IntegralTerm(),), 0.5))
    problem = LineProblem((0.0, 1.0), (0.0, 0.0, 1.0), 0.0, conditions)
    basis = pieces((0.0, 1.0), 20)
    weights, blocks = solved(problem, basis)
    check = check_line(problem, basis, 2 * weights, blocks)
    np.testing.assert_allclose(check.misses, [0.0, -0.5], atol=1e-9)
    np.testing.assert_allclose(check.profile, -check.grid.nodes, atol=1e-6)


def test_a_jump_between_pieces_counts():
    problem, _ = convection(0.1)
    basis = pieces((0.0, 0.4, 1.0), 30, eps=0.1)
    weights, conditions = solved(problem, basis)
    good = check_line(problem, basis, weights, conditions)
    assert good.error < 1e-8
    lifted = weights.copy()
    # The left condition and the equation know nothing of the second piece's height.
    lifted[basis.edges[1] :] += ripple(basis.patches[1], lambda s: 0.02 + 0 * s)
    check = check_line(problem, basis, lifted, conditions)
    assert check.error == pytest.approx(np.abs(check.profile).max() + 0.02, rel=1e-5)
    np.testing.assert_allclose(check.misses, [0.0, -0.02], atol=1e-8)
    raised = weights.copy()
    bump = ripple(basis.patches[0], lambda s: 0.02 * s)
    raised[: basis.edges[1]] += bump
    jump = check_line(problem, basis, raised, conditions)
    assert jump.error - np.abs(jump.profile).max() == pytest.approx(0.02, rel=1e-5)


def test_the_grid_joins_pieces_without_a_gap():
    problem, _ = convection(1e-8)
    basis = pieces((0.0, 0.4, 1.0), 30, eps=1e-8)
    weights, conditions = solved(problem, basis)
    points = check_line(problem, basis, weights, conditions).grid
    cells = 2 * (len(tables.checking_nodes(30)) - 1)
    assert (len(points.nodes), len(points.steps), len(points.middles)) == (cells + 1, cells, cells)
    assert points.nodes[0] == 0.0
    assert points.nodes[-1] == 1.0
    assert np.sum(points.nodes == 0.4) == 1
    assert np.all(points.steps > 0)
    assert points.steps.sum() == pytest.approx(1.0, rel=1e-14)
    # The last cell is far shorter than doubles at one are apart, and its length is exact.
    gap = basis.patches[1].places.nodes.offset[-2]
    assert points.steps[-1] == -gap
    assert points.steps[-1] < 1e-9


def smooth(order):
    """u = exp(x) on (0, 1) for u^(m) - u = 0."""
    counts = {3: [(0, 0), (0, 1), (1, 0)], 4: [(0, 0), (0, 1), (1, 0), (1, 1)]}[order]
    conditions = tuple(LinearCondition((Term(float(x), j),), float(np.exp(x))) for x, j in counts)
    return LineProblem((0.0, 1.0), (-1.0, *[0.0] * (order - 1), 1.0), 0.0, conditions)


@pytest.mark.parametrize("order", [3, 4])
def test_two_fields_are_checked_as_one_solution(order):
    problem, basis = smooth(order), pieces((0.0, 1.0), 24, order)
    weights, conditions = solved(problem, basis)
    (p,) = basis.patches
    good = check_line(problem, basis, weights, conditions)
    assert good.error < 1e-9
    assert good.residual.shape == (2, len(good.grid.middles))
    bump = ripple(p, lambda s: 1e-3 * np.sin(np.pi * s) ** 2)
    nothing = np.zeros_like(bump)
    # u is off by the bump, w is not: the definition of w tells.
    check = check_line(problem, basis, weights + np.concatenate([bump, nothing]), conditions)
    true = np.exp(check.grid.nodes) - nodal_values(basis, weights + np.concatenate([bump, nothing]))
    assert check.error == pytest.approx(1e-3, rel=0.02)
    assert np.abs(check.profile - true).max() < 2e-5
    # w is off and u is not: residuals in both equations, and no error.
    check = check_line(problem, basis, weights + np.concatenate([nothing, bump]), conditions)
    assert np.abs(check.residual).max() > 5e-4
    assert check.error < 1e-5


def test_residual_is_that_of_the_equation():
    """On u = 0: the source itself, and the misses are the values of the conditions."""
    problem, _ = variable(0.05)
    basis = pieces((0.0, 1.0), 30, eps=0.05)
    check = check_line(problem, basis, np.zeros(basis.size), condition_blocks(problem, basis))
    np.testing.assert_array_equal(check.residual[0], problem.sample(check.grid.middles)[-1])
    np.testing.assert_array_equal(check.misses, problem.values)
    np.testing.assert_array_equal(check.profile, check.direct)
    assert check.data.shape == (4, len(check.grid.middles))


@pytest.mark.parametrize("width", [1e-9, 1e-6, 1e-3])
def test_the_floor_is_what_rounding_of_x_does_to_the_source(width):
    """u' = f with f varying over a width at x = 1: known to eps / width only, and so is u."""
    start = (LinearCondition((Term(0.0),)),)
    problem = LineProblem((0.0, 1.0), (0.0, 1.0), lambda x: np.exp((x - 1) / width) / width, start)
    basis = pieces((0.0, 1.0), 60, 1, eps=width)
    weights, conditions = solved(problem, basis)
    check = check_line(problem, basis, weights, conditions)
    eps = np.finfo(float).eps
    assert 0.01 * eps / width < check.floor < eps / width
    # Sources known no better make errors of that size, and the estimate does not claim less.
    true = np.abs(np.exp(gaps(basis) / width) - nodal_values(basis, weights)).max()
    assert true < 10 * (check.floor + 1e-13)


@pytest.mark.parametrize("eps", [1e-2, 1e-6])
def test_without_a_source_the_floor_is_the_rounding_of_positions(eps):
    """u = exp(gap / eps) changes by eps_machine |gap u'| over it: largest, 1/e, at gap = -eps."""
    problem, _ = convection(eps)
    basis = pieces((0.0, 1.0), 80, eps=eps)
    weights, conditions = solved(problem, basis)
    check = check_line(problem, basis, weights, conditions)
    assert check.floor == pytest.approx(np.finfo(float).eps / np.e, rel=0.05, abs=0)


@pytest.mark.parametrize("order, derivative", [(2, 1), (3, 2), (3, 0), (4, 3), (4, 1)])
def test_a_kink_where_pieces_meet_is_an_error(order, derivative):
    """u^(m) = 0 with homogeneous conditions holds in all pieces of a u whose ties are missed.

    Least squares may miss them for the sake of digits elsewhere: beside a narrow piece, by much.
    """
    ends = {2: [(0, 0), (1, 0)], 3: [(0, 0), (0, 1), (1, 0)], 4: [(0, 0), (0, 1), (1, 0), (1, 1)]}
    conditions = tuple(LinearCondition((Term(float(x), j),)) for x, j in ends[order])
    problem = LineProblem((0.0, 1.0), (*[0.0] * order, 1.0), 0.0, conditions)
    basis = pieces((0.0, 0.4, 0.401, 1.0), 33, order)
    blocks = condition_blocks(problem, basis)
    system = line_system(problem, basis, blocks)
    own, unit = basis.ties[0][derivative], system.blocks[order].matrix[derivative]
    right = np.concatenate([block.rhs for block in system.blocks])
    right[order + derivative] = 1e-3 * np.linalg.norm(unit) / np.linalg.norm(own)
    method = Blocked(equilibrate=False)
    weights = method.solve(method.factor(system), right)[0]
    check = check_line(problem, basis, weights, blocks)
    true = -basis.values(weights, check.grid.middles[:, None], (0,))
    size = np.abs(true).max()
    assert size > 1e-6
    assert size * 0.9 < check.error < size * 1.1 + 1e-3 * (derivative == 0)
    middles = 0.5 * (check.profile[1:] + check.profile[:-1])
    away = np.abs(check.grid.middles - 0.4) > 0.01
    assert np.abs(middles - true)[away].max() < 0.05 * size
