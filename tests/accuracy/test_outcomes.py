"""How solves end: singular, ill-posed, limited, stalled, hard to see. None claims what is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf, erfi, j0

import sharpfront as sf
from sharpfront.catalog import SINGLE_LAYER, TWIN_LAYER
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.measure import Feature, graded_points, max_error
from sharpfront.paper.scores import mixture_share
from sharpfront.trust.advice import rounded_up

UNIT = sf.Interval(0, 1)
PERIODIC = sf.Interval(0, 1, periodic=True)
TOL = 1e-8


def zero(u, x):
    return u


def slope(u, x):
    return u.dx


def stated(equation, domain=UNIT, **conditions):
    return sf.Problem(domain, equation, **(conditions or {"boundary": zero}))


def relative_error(solution, exact, points=None):
    centres = solution.approximation.bases["u"].centres[:, 0]
    low, high = solution.domain.bounds[:, 0]
    even = np.linspace(low, high, 2001)
    x = np.concatenate([even, centres, [] if points is None else points])
    return max_error(solution, exact, x)


def layer(nu=1e-4):
    return stated(lambda u, x: -nu * u.dxx + u.dx, left=zero, right=lambda u, x: u - 1)


def driven(force, k=np.pi):
    """u'' + k^2 u = force, u = 0 at both ends: singular where k is a multiple of pi."""
    return stated(lambda u, x: u.dxx + k**2 * u - force(x))


SINGULAR = {
    "METHOD.md, zero data": stated(lambda u, x: 1e-2 * u.dxx + np.pi**2 / 4 * u),
    "METHOD.md, incompatible": stated(lambda u, x: 1e-2 * u.dxx + np.pi**2 / 4 * u - 1 - x),
    "METHOD.md, compatible": stated(
        lambda u, x: 1e-2 * u.dxx + np.pi**2 / 4 * u - np.sin(2 * np.pi * x)
    ),
    "METHOD.md, boundary data": stated(
        lambda u, x: 1e-2 * u.dxx + np.pi**2 / 4 * u, left=zero, right=lambda u, x: u - 1
    ),
    "first resonance, zero data": driven(lambda x: 0 * x),
    "first resonance, incompatible": driven(lambda x: 1 + 0 * x),
    "first resonance, compatible": driven(lambda x: np.sin(2 * np.pi * x)),
    # The data do not excite the free part at all: only a probe finds it.
    "twentieth resonance, compatible": driven(lambda x: 1 + 0 * x, 20 * np.pi),
    "resonance with Neumann": stated(lambda u, x: u.dxx + np.pi**2 * u - 1, boundary=slope),
    "resonance of a varying medium": stated(lambda u, x: u.dxx + 6.548395 * (1 + x) * u - 1),
    "conditions twice": stated(lambda u, x: u.dx - 0.01 * u.dxx, left=lambda u, x: (u, 2 * u)),
    "contradicting conditions": stated(
        lambda u, x: u.dx - 0.01 * u.dxx, left=lambda u, x: (u, u - 1)
    ),
    "pure Neumann, compatible": stated(lambda u, x: u.dxx - np.cos(np.pi * x), boundary=slope),
    "pure Neumann, incompatible": stated(lambda u, x: u.dxx - 1, boundary=slope),
    "pure Neumann, zero": stated(lambda u, x: u.dxx, boundary=slope),
    "periodic, constant free": sf.Problem(PERIODIC, lambda u, x: u.dxx - np.cos(2 * np.pi * x)),
    "periodic, wave free": sf.Problem(
        PERIODIC, lambda u, x: u.dxx + 4 * np.pi**2 * u - np.cos(4 * np.pi * x)
    ),
    "periodic, first order": sf.Problem(PERIODIC, lambda u, x: u.dx - np.cos(2 * np.pi * x)),
    "fourth order, a line free": stated(
        lambda u, x: u.d("x", 4) - 1, boundary=lambda u, x: (u.dxx, u.dxxx)
    ),
    "third order, a constant free": stated(
        lambda u, x: u.dxxx, left=lambda u, x: (u.dx, u.dxx), right=slope
    ),
    "growth by 1e434": stated(lambda u, x: 1e-3 * u.dxx - u.dx, left=lambda u, x: (u, u.dx - 1)),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_problems_are_recognised(name):
    solution = sf.solve(SINGULAR[name])
    assert solution.outcome.kind is OutcomeKind.NEAR_SINGULAR, str(solution.outcome)
    assert not solution.converged
    assert solution.error_estimate == np.inf
    assert "Check for a resonance or a missing condition" in str(solution.outcome)
    assert "amplified" in solution.outcome.detail or "no unique" in solution.outcome.detail
    assert np.isfinite(solution(0.3))
    assert all(np.isfinite(record.residual) for record in solution.history)


@pytest.mark.parametrize("away", [0.1, 1e-2, 1e-3])
def test_near_a_resonance_there_is_a_solution(away):
    k = np.pi * np.sqrt(1 + away)
    solution = sf.solve(driven(lambda x: 1 + 0 * x, k))
    size = (1 - np.cos(k)) / np.sin(k)
    error = relative_error(solution, lambda x: (1 - np.cos(k * x) - size * np.sin(k * x)) / k**2)
    assert solution.converged
    assert error <= 3 * solution.error_estimate
    assert error < 1e-10


@pytest.mark.parametrize("away", [1e-5, 1e-6])
def test_nearer_still_the_estimate_holds_though_nothing_is_promised(away):
    k = np.pi * np.sqrt(1 + away)
    solution = sf.solve(driven(lambda x: 1 + 0 * x, k))
    size = (1 - np.cos(k)) / np.sin(k)
    error = relative_error(solution, lambda x: (1 - np.cos(k * x) - size * np.sin(k * x)) / k**2)
    assert solution.outcome.kind is OutcomeKind.NEAR_SINGULAR
    assert error <= 3 * solution.error_estimate


def convection(u, x):
    return u.dx - 0.01 * u.dxx


MISCOUNTED = {
    "missing": (stated(convection, left=zero), 2, 1),
    "none": (sf.Problem(UNIT, convection), 2, 0),
    "too many": (
        stated(convection, boundary=zero, conditions=[sf.at(0.5, lambda u, x: u - 3)]),
        2,
        3,
    ),
    "too many, consistent": (
        stated(
            lambda u, x: u.dxx - 2,
            left=zero,
            right=lambda u, x: u - 1,
            conditions=[sf.at(0.5, lambda u, x: u - 0.25)],
        ),
        2,
        3,
    ),
    "first order, both ends": (stated(lambda u, x: u.dx + u), 1, 2),
    "fourth order, three": (
        stated(lambda u, x: u.d("x", 4), left=lambda u, x: (u, u.dx), right=zero),
        4,
        3,
    ),
    "periodic and one more": (
        sf.Problem(PERIODIC, lambda u, x: u.dxx - u, conditions=[sf.at(0.5, zero)]),
        2,
        3,
    ),
}


@pytest.mark.parametrize("name", MISCOUNTED)
def test_the_number_of_conditions_is_checked(name):
    problem, order, given_ = MISCOUNTED[name]
    solution = sf.solve(problem)
    assert solution.outcome.kind is OutcomeKind.ILL_POSED
    assert f"order {order} and {given_} condition(s)" in solution.outcome.detail
    assert "needs m independent conditions" in str(solution.outcome)
    assert solution.error_estimate == np.inf
    assert np.isfinite(solution.history[0].residual)


def turning(eps):
    return stated(
        lambda u, x: eps * u.dxx - x * u.dx,
        sf.Interval(-1, 1),
        left=lambda u, x: u - 1,
        right=lambda u, x: u - 2,
    )


@pytest.mark.parametrize("eps", [0.1, 0.05])
def test_a_turning_point_that_is_well_conditioned_enough(eps):
    solution = sf.solve(turning(eps))
    root = np.sqrt(2 * eps)
    error = relative_error(solution, lambda x: 1.5 + 0.5 * erfi(x / root) / erfi(1 / root))
    assert solution.converged
    assert error <= min(3 * solution.error_estimate, 1e-9)


@pytest.mark.parametrize("eps", [0.02, 1e-2, 1e-3, 1e-4])
def test_an_exponentially_ill_conditioned_turning_point_is_not_claimed(eps):
    """The true solution is 1.5 but for layers at the ends; exp(-1/2 eps) decides it."""
    solution = sf.solve(turning(eps))
    assert solution.outcome.kind is OutcomeKind.NEAR_SINGULAR
    assert solution.error_estimate >= abs(float(solution(0.0)) - 1.5) / 2 / 3


def test_a_turning_point_of_the_other_sign_is_harmless():
    solution = sf.solve(
        stated(
            lambda u, x: 1e-4 * u.dxx + x * u.dx,
            sf.Interval(-1, 1),
            left=lambda u, x: u - 1,
            right=lambda u, x: u - 2,
        )
    )
    root = np.sqrt(2e-4)
    assert solution.converged
    assert relative_error(solution, lambda x: 1.5 + 0.5 * erf(x / root)) < TOL


def test_growth_that_can_be_followed_is():
    solution = sf.solve(
        stated(lambda u, x: 0.1 * u.dxx - u.dx, left=lambda u, x: (u, u.dx - 1)),
    )
    error = relative_error(solution, lambda x: 0.1 * np.expm1(x / 0.1))
    assert solution.converged
    assert error <= min(3 * solution.error_estimate, 10 * TOL)


def test_growth_by_1e43_is_near_singular():
    solution = sf.solve(
        stated(lambda u, x: 1e-2 * u.dxx - u.dx, left=lambda u, x: (u, u.dx - 1)),
    )
    error = relative_error(solution, lambda x: 1e-2 * np.expm1(x / 1e-2))
    assert solution.outcome.kind is OutcomeKind.NEAR_SINGULAR
    assert error <= 3 * solution.error_estimate


def test_growth_that_cannot_is_not_claimed():
    solution = sf.solve(stated(lambda u, x: 1e-2 * u.dx - u, left=lambda u, x: u - 1))
    error = relative_error(solution, lambda x: np.exp(x / 1e-2))
    assert not solution.converged
    assert error <= 3 * solution.error_estimate


def across(equation, **conditions):
    return stated(equation, sf.Interval(-1, 1), **conditions)


VANISHING = {
    "changes its sign": across(lambda u, x: x * u.dxx + u - 1),
    "changes its sign elsewhere": across(lambda u, x: (x - 0.1234567) * u.dxx + u - 1),
    "touches zero at a node": across(lambda u, x: x**2 * u.dxx + u - 1),
    "first order": across(lambda u, x: (x - 0.1234) * u.dx + u - 1, left=zero),
    "zero on a half": across(lambda u, x: np.where(x < 0, 1.0, 0.0) * u.dxx + u.dx + u - 1),
    "zero in the middle": across(lambda u, x: np.maximum(np.abs(x) - 0.5, 0) * u.dxx + u - 1),
}


@pytest.mark.parametrize("name", VANISHING)
def test_an_equation_that_loses_its_order_inside_is_named(name):
    solution = sf.solve(VANISHING[name], max_kernels=1500)
    assert solution.outcome.kind is OutcomeKind.ILL_POSED, str(solution.outcome)
    assert "vanishes near x = " in solution.outcome.detail
    assert "Solve on intervals that end there" in solution.outcome.detail
    assert solution.error_estimate > 1e-3


def test_a_touching_zero_with_one_bounded_solution_is_solved():
    problem = across(lambda u, x: (x - 0.3) ** 2 * u.dxx - 2 * u, boundary=lambda u, x: u - 1)
    solution = sf.solve(problem)
    error = relative_error(solution, lambda x: (x - 0.3) ** 2 / np.where(x < 0.3, 1.3, 0.7) ** 2)
    assert error <= 3 * solution.error_estimate
    assert not solution.converged or error < 10 * TOL


def test_a_zero_at_an_end_is_no_obstacle():
    problem = stated(
        lambda u, x: x * u.dxx + u.dx + x * u,
        left=lambda u, x: u - 1,
        right=lambda u, x: u - j0(1.0),
    )
    solution = sf.solve(problem)
    assert solution.converged
    assert relative_error(solution, j0) < 1e-12


def test_a_zero_at_an_end_without_a_bounded_solution_is_not_claimed():
    problem = stated(
        lambda u, x: x * u.dxx + u.dx + x * u,
        left=lambda u, x: u - 2,
        right=lambda u, x: u - j0(1.0),
    )
    assert not sf.solve(problem, max_kernels=500).converged


def test_a_leading_coefficient_that_jumps_across_zero_is_a_problem_like_others():
    """u'' + u = 1 left of c, -u'' + u = 1 right of it: u = 1 + w with u and u' continuous."""
    c = 0.2
    solution = sf.solve(across(lambda u, x: np.where(x < c, 1.0, -1.0) * u.dxx + u - 1))
    s, t = c + 1, c - 1
    matrix = [
        [np.sin(s), -np.cosh(t), -np.sinh(t), np.cos(s)],
        [np.cos(s), -np.sinh(t), -np.cosh(t), -np.sin(s)],
        [0, 1, 0, 0],
        [0, 0, 0, 1],
    ]
    a, b, d, e = np.linalg.solve(matrix, [0, 0, -1, -1])
    error = relative_error(
        solution,
        lambda x: (
            1
            + np.where(
                x < c,
                a * np.sin(x + 1) + e * np.cos(x + 1),
                b * np.cosh(x - 1) + d * np.sinh(x - 1),
            )
        ),
    )
    assert solution.converged
    assert error < 1e-10


@pytest.mark.parametrize("tol", [1e-14, 1e-15, 1e-16])
@pytest.mark.parametrize(
    ("problem", "exact"),
    [
        (layer(), lambda x: np.exp((x - 1) / 1e-4)),
        (
            stated(
                lambda u, x: u.dxx + 400 * np.sin(20 * x),
                left=zero,
                right=lambda u, x: u - np.sin(20.0),
            ),
            lambda x: np.sin(20 * x),
        ),
        (
            stated(
                lambda u, x: u.d("x", 4) - 24,
                left=lambda u, x: (u, u.dx),
                right=lambda u, x: (u - 1, u.dx - 4),
            ),
            lambda x: x**4,
        ),
    ],
    ids=["layer", "smooth", "fourth order"],
)
def test_rounding_sets_a_floor_and_it_is_said(problem, exact, tol):
    solution = sf.solve(problem, tol=tol)
    error = relative_error(solution, exact)
    assert solution.outcome.kind is OutcomeKind.STALLED
    floor = rounded_up(solution.error_estimate)
    assert f"The floor here is about {floor:.0e}" in solution.outcome.detail
    assert "Loosen tol to the floor" in str(solution.outcome)
    assert error <= 3 * solution.error_estimate
    assert solution.error_estimate < 1e-11


@pytest.mark.parametrize("limit", [1, 5, 20, 32, 33, 60])
def test_the_kernel_limit_holds_however_small(limit):
    problem = stated(
        lambda u, x: -1e-4 * u.dxx + 2 * (2 * x - 1) * u.dx + 4 * u, boundary=lambda u, x: u - 1
    )
    solution = sf.solve(problem, tol=1e-12, max_kernels=limit)
    assert solution.outcome.kind is OutcomeKind.KERNEL_LIMIT
    assert solution.kernels <= limit
    assert all(record.kernels <= limit for record in solution.history)
    assert f"{solution.kernels} kernels used" in solution.outcome.detail
    assert "Raise max_kernels" in str(solution.outcome)
    assert solution.error_estimate > 1e-12


def jumps():
    return stated(lambda u, x: -1e-4 * u.dxx + u - np.sign(np.sin(100 * np.pi * x + 0.5)))


def test_a_hundred_jumps_take_a_hundred_pieces():
    solution = sf.solve(jumps())
    assert solution.converged
    assert len(solution.approximation.bases["u"].patches) == 101
    x = np.linspace(0.003, 0.997, 997)
    assert np.max(np.abs(solution.residual(x))) < 1e-6


def test_more_pieces_than_the_limit_allows_is_a_kernel_limit():
    solution = sf.solve(jumps(), max_kernels=1000)
    assert solution.outcome.kind is OutcomeKind.KERNEL_LIMIT
    assert "101 pieces, which take 3333 kernels at least" in solution.outcome.detail
    assert solution.kernels <= 1000
    assert solution.error_estimate > 0.1


def test_an_oscillation_that_the_limit_allows():
    problem = stated(
        lambda u, x: u.dxx + 9e6 * u,
        left=lambda u, x: u - 1,
        right=lambda u, x: u - np.cos(3000.0),
    )
    solution = sf.solve(problem)
    assert solution.converged
    assert relative_error(solution, lambda x: np.cos(3000 * x)) <= 3 * solution.error_estimate


def test_an_oscillation_beyond_the_limit():
    problem = stated(lambda u, x: u.dxx - 1e8 * np.sin(1e4 * x))
    solution = sf.solve(problem, max_kernels=1000)
    error = relative_error(solution, lambda x: x * np.sin(1e4) - np.sin(1e4 * x))
    assert solution.outcome.kind is OutcomeKind.KERNEL_LIMIT
    assert error <= 3 * solution.error_estimate


def test_noise_ends_in_finite_time():
    """Every refinement of sin(1e9 x^2) shows as much variation as it has cells."""
    solution = sf.solve(stated(lambda u, x: u.dxx - np.sin(1e9 * x * x)), max_kernels=400)
    assert not solution.converged
    assert solution.error_estimate > TOL


@pytest.mark.parametrize(
    "problem",
    [
        stated(lambda u, x: -1e-4 * u.dxx + u.dx),
        stated(lambda u, x: u.dx, left=zero),
        stated(lambda u, x: u.d("x", 4) + u, boundary=lambda u, x: (u, u.dx)),
        sf.Problem(PERIODIC, lambda u, x: u - u.dxx),
    ],
    ids=["layer", "first", "fourth", "periodic"],
)
def test_nothing_that_drives_a_problem_gives_nothing(problem):
    solution = sf.solve(problem)
    assert solution.converged
    assert np.array_equal(solution(np.linspace(0, 1, 50)), np.zeros(50))
    assert solution.error_estimate < 1e-12


@pytest.mark.parametrize(
    ("equation", "what", "where"),
    [
        (lambda u, x: np.sqrt(x - 0.5) * u.dxx + u, "coefficient of the equation is nan", "x = "),
        (lambda u, x: u.dxx + u / (x - 0.5), "coefficient of the equation is inf", "x = 0.5"),
        (lambda u, x: u.dxx - x**-1.5, "source of the equation is -inf", "x = 0"),
        (lambda u, x: u.dxx - (1 - x) ** -2.5, "source of the equation is -inf", "x = 1"),
        (lambda u, x: u.dxx - np.log(x - 0.25), "source of the equation is nan", "x = "),
    ],
)
def test_data_that_are_not_finite_are_refused_with_the_point(equation, what, where):
    with pytest.raises(EquationError, match=f"{what} at {where}"):
        sf.solve(stated(equation))


@pytest.mark.parametrize(
    ("equation", "exact"),
    [
        (lambda u, x: u.dxx - np.log(x), lambda x: x * (x * np.log(x) - 1.5 * x + 1.5) / 2),
        (lambda u, x: u.dxx - 1 / x, lambda x: x * np.log(x)),
        (lambda u, x: u.dxx - (1 - x) ** -0.5, lambda x: 4 / 3 * (1 - x) * (np.sqrt(1 - x) - 1)),
        (lambda u, x: u.dxx + u / (1 - x) + 2 - x, lambda x: x * (1 - x)),
    ],
)
def test_data_that_are_infinite_at_an_end_are_resolved(equation, exact):
    solution = sf.solve(stated(equation))
    assert solution.converged
    x = np.geomspace(1e-12, 0.5, 400)
    x = np.concatenate([x, 1 - x])
    assert np.abs(solution(x) - exact(x)).max() < 1e-8


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x: u.dxx + u / (x - 0.123456789) - 1,
        lambda u, x: u.dxx - 1 / (x - 0.123456789),
    ],
)
def test_a_pole_between_all_places_is_found_in_a_formula(equation):
    with pytest.raises(EquationError, match=r"at x = 0\.123457"):
        sf.solve(stated(equation), max_kernels=1500)


@pytest.mark.parametrize("factor", [lambda u: u, lambda u: 1.0])
def test_a_pole_between_all_places_is_not_claimed(factor):
    pole = sf.function(lambda x: 1 / (x - 0.123456789))
    solution = sf.solve(stated(lambda u, x: u.dxx + pole(x) * factor(u) - 1), max_kernels=1500)
    assert not solution.converged
    assert solution.error_estimate > 1e-4


def power(p, where=0.1, wrap=lambda f: f):
    """-u'' = |x - c|^p on (-1, 1)."""
    q = (p + 1) * (p + 2)
    low, high = (1 + where) ** (p + 2), (1 - where) ** (p + 2)

    def exact(x):
        return (low * (1 - x) / 2 + high * (1 + x) / 2 - np.abs(x - where) ** (p + 2)) / q

    source = wrap(lambda x: np.abs(x - where) ** p)
    return across(lambda u, x: u.dxx + source(x)), exact


@pytest.mark.parametrize("where", [0.1, 0.1 + 3e-5, -0.31234])
@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.5])
@pytest.mark.parametrize("wrap", [lambda f: f, sf.function], ids=["read", "sampled"])
def test_sources_with_a_corner_of_any_power_are_solved(p, where, wrap):
    problem, exact = power(p, where, wrap)
    solution = sf.solve(problem)
    error = relative_error(solution, exact)
    assert solution.converged, str(solution.outcome)
    assert error <= min(3 * solution.error_estimate, 10 * TOL)
    assert solution.kernels < 1500


def test_a_mixture_that_made_it_worse_is_given_up():
    """Fitted anew after the second solve it is a thousand times worse; the fourth goes back."""
    solution = sf.solve(power(2.5, wrap=sf.function)[0])
    estimates = [record.error_estimate for record in solution.history]
    assert max(estimates[2:]) > 10 * estimates[1]
    assert solution.history[-1].mixture is None
    assert solution.kernels < 100


@pytest.mark.parametrize("width", [1e-4, 1e-6])
def test_a_layer_too_weak_to_be_discovered_is_estimated_and_not_called_rounding(width):
    height = 4e-6
    exact = lambda x: height * np.exp(-x / width) + np.cos(x)  # noqa: E731
    problem = stated(
        lambda u, x: u - width**2 * u.dxx - (1 + width**2) * np.cos(x),
        boundary=lambda u, x: u - exact(x),
    )
    solution = sf.solve(problem)
    error = relative_error(solution, exact, np.geomspace(1e-9, 1, 300))
    assert error <= 3 * solution.error_estimate
    assert solution.converged or solution.outcome.kind is OutcomeKind.UNRESOLVED
    assert "rounding" not in str(solution.outcome)


def test_a_root_at_an_end_takes_few_kernels():
    solution = sf.solve(stated(lambda u, x: u.dxx + np.sqrt(x)))
    assert solution.converged
    assert relative_error(solution, lambda x: (x - x**2.5) * 4 / 15) < TOL
    assert solution.kernels < 100


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.floats(0.01, 0.99), st.sampled_from([1e-4, 3e-4, 1e-3, 1e-2]))
def test_a_spike_of_one_in_ten_thousand_is_seen_wherever_it_is(place, width):
    """-u'' = a normal density: u is |x - c| rounded off, whatever c."""

    def force(x):
        return np.exp(-(((x - place) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))

    def bent(x):
        z = (x - place) / width
        bell = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        return -width * (0.5 * z * (1 + erf(z / np.sqrt(2))) + bell)

    def exact(x):
        return bent(x) - (1 - x) * bent(0.0) - x * bent(1.0)

    solution = sf.solve(stated(lambda u, x: u.dxx + force(x)))
    points = graded_points(UNIT, [Feature(place, width)], 100)
    error = relative_error(solution, exact, points)
    assert solution.converged
    assert error <= min(3 * solution.error_estimate, 10 * TOL)


HIDDEN = {
    "narrow beside two": ((0.2015, 1.07e-4, 2987), (0.8056, 4.1e-5, 7588), (0.3185, 2.9e-5, 613)),
    "weak beside strong": ((0.5195, 1e-4, 7031), (0.6294, 8.2e-5, 9283), (0.0731, 9.4e-5, 139)),
    "weak beside one": ((0.7129, 3.2e-4, 35), (0.5895, 6.7e-4, 1448)),
    "narrow between two": ((0.1742, 1.6e-4, 4257), (0.347, 3.55e-5, 621), (0.7578, 3.1e-4, 2251)),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_spikes_that_stronger_ones_hide_are_not_forgotten(name):
    """-u'' = sum of a exp(-((x - c) / w)^2): each bends u by its integral."""
    spikes = HIDDEN[name]

    def bent(x, c, w, a):
        z = (x - c) / w
        return -a * w**2 * (0.5 * np.sqrt(np.pi) * z * (1 + erf(z)) + 0.5 * np.exp(-(z**2)))

    def exact(x):
        return sum(bent(x, *s) - (1 - x) * bent(0.0, *s) - x * bent(1.0, *s) for s in spikes)

    def force(x):
        return sum(a * np.exp(-(((x - c) / w) ** 2)) for c, w, a in spikes)

    solution = sf.solve(stated(lambda u, x: u.dxx + force(x)))
    points = graded_points(UNIT, [Feature(c, w) for c, w, _ in spikes], 100)
    error = relative_error(solution, exact, points)
    assert solution.converged
    assert error <= 3 * solution.error_estimate + 1e-9
    assert error <= 10 * TOL


def test_a_spike_too_narrow_for_the_survey_is_a_known_limit():
    """Documented: in what cannot be looked into, a spike between all places passes unnoticed."""
    hidden = sf.function(lambda x: np.exp(-(((x - 0.37182) / 1e-7) ** 2)) * 1e7)
    problem = stated(lambda u, x: u.dxx + hidden(x))
    assert np.max(np.abs(sf.solve(problem)(np.linspace(0, 1, 101)))) < 1e-6


@pytest.mark.parametrize("kind", OutcomeKind)
def test_every_outcome_has_advice(kind):
    text = str(Outcome(kind, "Seen here."))
    assert text.startswith(f"{kind}. Seen here. ")
    assert len(Outcome(kind).advice) > 30


@pytest.mark.parametrize("entry", [SINGLE_LAYER, TWIN_LAYER], ids=lambda e: e.name)
@pytest.mark.parametrize("nu", [1e-2, 1e-4, 1e-6])
def test_the_mixture_lies_on_the_layers_of_the_paper(entry, nu):
    solution = sf.solve(entry.problem(nu))
    mixture = solution.history[-1].mixture
    assert mixture_share(mixture, solution.domain, entry.features(nu)) > 0.9


@pytest.mark.parametrize("rate", [5, 10, 15, 20, 25, 30, 50])
def test_growing_solutions_are_never_overclaimed(rate):
    solution = sf.solve(stated(lambda u, x: u.dx - rate * u, left=lambda u, x: u - 1))
    error = relative_error(solution, lambda x: np.exp(rate * x))
    assert error <= 3 * solution.error_estimate
    assert solution.converged == (rate <= 15)
    if rate >= 30:
        assert solution.outcome.kind is OutcomeKind.NEAR_SINGULAR
        assert "amplified" in str(solution.outcome)
