"""The default in two dimensions and more: every kind of condition, domain, equation and outcome."""

import math
from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt import growth, questions
from sharpfront.adapt import space as module
from sharpfront.adapt.axis_features import Marginals
from sharpfront.adapt.space import ResolveSpace
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState, Trial, basis_of, in_space
from sharpfront.catalog import OUTFLOW
from sharpfront.errors import DomainError, ProblemError
from sharpfront.estimate import Assessment
from sharpfront.geometry import Box
from sharpfront.mixture import Mixture
from sharpfront.pieces.tensor import TensorBasis, product_count
from sharpfront.solution import Estimate
from sharpfront.solution.approximation import Approximation

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


def assert_compared(problem, truth, tol=1e-7):
    solution = assert_solved(problem, truth, tol, adaptor=ResolveSpace())
    assert "change from the solution with fewer kernels" in solution.estimate.meaning
    assert len(solution.history) >= 2
    return solution


def test_a_first_order_equation_is_compared():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: u.dx + 0.5 * u.dy - exact(x, y) - 0.5 * slope_y(x, y),
        left=given,
        bottom=given,
    )
    assert_compared(problem, exact)


def test_a_system_is_compared():
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (
            sf.laplacian(u) - v + 3 * exact(x, y) + x * y,
            sf.laplacian(v) + u - exact(x, y),
        ),
        boundary=lambda u, v, x, y: (u - exact(x, y), v - x * y),
    )
    solution = assert_compared(problem, exact)
    assert error_of(solution, lambda x, y: x * y, "v") < 1e-7
    assert solution.unknowns == ("u", "v")


def test_a_plate_is_compared():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(sf.laplacian(u)) - 9 * exact(x, y),
        boundary=lambda u, x, y: (u - exact(x, y), u.dn - exact(x, y).dn),
    )
    assert_compared(problem, exact)


def test_four_dimensions_are_compared():
    def truth(a, b, c, d):
        return np.sin(a) + b * c + np.cos(d)

    problem = sf.Problem(
        Box(*[(0, 1)] * 4),
        lambda u, *x: sf.laplacian(u) + np.sin(x[0]) + np.cos(x[3]),
        boundary=lambda u, *x: u - truth(*x),
    )
    assert_compared(problem, truth, 1e-5)


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


@pytest.mark.parametrize("most", [50, 300])
def test_the_most_kernels_are_respected(most):
    seen = []
    adaptor = ResolveSpace(max_kernels=most)
    solution = sf.solve(
        sf.Problem(SQUARE, layers, boundary=zero), tol=1e-8, adaptor=adaptor, on_step=seen.append
    )
    assert solution.outcome.kind == "kernel limit reached"
    assert not solution.converged
    assert max(record.kernels for record in seen) <= most
    assert solution.kernels > 0.5 * most
    assert solution.error_estimate > 1e-8
    assert "functions along the axes" in solution.outcome.detail


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


# --- how it goes ------------------------------------------------------------------------------


def test_an_estimate_is_never_taken_on_its_own():
    """A first solve below the tolerance is checked by a cheaper one before it is believed."""
    problem = sf.Problem(DOMAINS["disk"], poisson, boundary=given)
    solution = sf.solve(problem, tol=1e-4, adaptor=ResolveSpace())
    assert [record.kernels for record in solution.history][1] < solution.history[0].kernels
    assert solution.kernels == solution.history[0].kernels


def test_a_layer_gets_a_mixture_and_more_functions_across_than_along():
    solution = sf.solve(OUTFLOW.problem(1e-4), tol=1e-6, adaptor=ResolveSpace())
    basis = solution.approximation.bases["u"]
    assert isinstance(basis, TensorBasis)
    assert basis.axes[0].coordinate.components > 0
    assert basis.axes[1].coordinate.components == 0
    assert basis.shape[0] > 1.3 * basis.shape[1]
    assert solution.history[0].mixture is not None


def state_with(functions, estimate, tol, weights):
    """A state whose best solution has given weights for an even basis."""
    problem = sf.Problem(SQUARE, poisson, boundary=given)
    state = SpaceState(problem, tol, 0, None, (None, None), False, Trial(functions))
    basis = basis_of(state)
    approximation = Approximation(
        problem.coordinates, {"u": basis}, {"u": weights(basis).ravel()[basis.kept]}
    )
    nothing = np.zeros(1)
    assessment = SpaceAssessment(
        approximation,
        nothing[:, None],
        nothing,
        nothing,
        0.0,
        Estimate(estimate, ""),
        estimate,
        1.0,
    )
    return module._noted(state, assessment)


def test_the_axis_whose_last_functions_matter_grows():
    def weights(basis):
        i, j = np.meshgrid(*[np.arange(n) for n in basis.shape], indexing="ij")
        return 0.1**i * 0.6**j

    grown = growth.grown(state_with((16, 16), 1e-3, 1e-6, weights))
    assert grown.functions[0] == 16
    assert 16 < grown.functions[1] <= math.ceil(growth.MOST_GROWTH * 16)


def test_slow_decay_grows_by_the_most_and_fast_decay_by_as_much_as_needed():
    def falling(rate):
        def weights(basis):
            i, j = np.meshgrid(*[np.arange(n) for n in basis.shape], indexing="ij")
            return rate ** (i + j)

        return weights

    slow = growth.grown(state_with((20, 20), 1e-1, 1e-8, falling(0.9))).functions
    fast = growth.grown(state_with((20, 20), 1e-6, 4e-7, falling(0.2))).functions
    assert slow == (32, 32)
    assert 21 <= fast[0] <= 25


def test_a_move_larger_than_the_estimates_doubts_them():
    state = state_with((16, 16), 1e-6, 1e-9, lambda basis: np.ones(basis.shape))
    last = state.last.approximation

    def assessed(factor):
        moved = replace(last, weights={"u": factor * last.weights["u"]})
        points, nothing = SQUARE.sample(20), np.zeros(20)
        estimate = Estimate(1e-6, "")
        return questions.doubted(state, Assessment(moved, points, nothing, nothing, 0.0, estimate))

    assert assessed(1.01).doubt > 100
    assert assessed(1.01).estimate.value == pytest.approx(assessed(1.01).doubt * 1e-6)
    assert assessed(1.0).doubt == 1.0
    assert assessed(1.0).estimate.value == 1e-6


def test_a_residual_that_does_not_fall_raises_an_estimate():
    shares = [0.0, 0.4, 0.6, 0.9, 0.99, 1.0, 3.0]
    values = [questions.raised(1e-3, questions.unfallen(share)) for share in shares]
    assert values == pytest.approx([1e-3, 1e-3, 1.5e-3, 9e-3, 0.099, 1.0, 1.0])
    assert questions.raised(7.0, math.inf) == 7.0


def test_nothing_that_was_compared_ranks_behind_what_was_not():
    state = state_with((8, 8), 1e-2, 1e-6, lambda basis: np.ones(basis.shape))
    alone = replace(state.last, raw=math.inf, estimate=Estimate(1e-9, ""))
    assert state.last.rank < alone.rank
    assert module._noted(replace(state, best=(state.trial, alone)), state.last).answer is state.last


@pytest.mark.parametrize("most", [30, 100, 333])
def test_a_trial_is_cut_down_to_the_most_kernels(most):
    problem = sf.Problem(SQUARE, poisson, boundary=given)
    cut = ResolveSpace(max_kernels=most)._within(problem, Trial((40, 20), 0.6), (4, 4))
    assert product_count(cut.functions) <= most
    assert product_count((cut.functions[0] + 1, cut.functions[1] + 1)) > most
    assert cut.scale == 0.6
    none = ResolveSpace(max_kernels=most)._within(problem, Trial((40, 40)), (39, 40))
    assert none is None


def test_mixtures_along_the_axes_as_one_in_space():
    one = Mixture([0.25, 0.75], np.array([[0.0], [1.0]]), np.array([[[1e-4]], [[4e-4]]]))
    whole = in_space((one, None), np.array([[0.0, 2.0], [1.0, 5.0]]), 2.0)
    np.testing.assert_allclose(whole.weights, [0.25, 0.75])
    np.testing.assert_allclose(whole.means, [[0.0, 3.5], [1.0, 3.5]])
    np.testing.assert_allclose(whole.covariances[0], np.diag([4e-4, 9 / 12]))
    assert in_space((None, None), np.array([[0.0, 0.0], [1.0, 1.0]])) is None
    both = in_space((one, one), np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert both.weights.sum() == pytest.approx(1.0)
    assert len(both.weights) == 4


def test_settings_reach_the_adaptor():
    with pytest.raises(ProblemError, match="cannot be combined"):
        sf.solve(SINGULAR["neumann"], max_kernels=10, adaptor=ResolveSpace())
    problem = OUTFLOW.problem(1e-3)
    state = ResolveSpace(components=1).start(problem, 1e-6, 0)
    assert isinstance(state.found, Marginals)
    assert len(state.found.mixtures[0].weights) == 1


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


def test_an_estimate_below_the_tolerance_at_once_is_still_confirmed():
    def exact(x, y):
        return np.sin(3 * x + y)

    problem = sf.Problem(
        sf.Box((-1, 1), (0, 1)),
        lambda u, x, y: -(x * u.dxx + u.dyy) - (9 * x + 1) * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6, adaptor=ResolveSpace())
    assert solution.converged
    assert len(solution.history) > 1


def test_a_spike_between_the_nodes_is_seen():
    def source(x, y):
        r2 = ((x - 0.3137) ** 2 + (y - 0.7241) ** 2) / 9e-6
        return np.exp(-r2) * (4 * r2 - 4) / 9e-6

    problem = sf.Problem(
        SQUARE, lambda u, x, y: -sf.laplacian(u) + source(x, y), boundary=lambda u, x, y: u
    )
    solution = sf.solve(problem, tol=1e-3, adaptor=ResolveSpace(max_kernels=800))
    assert not solution.converged or abs(solution(0.3137, 0.7241) - 1) < 2e-3
