"""Random problems that nobody looked at: never converged and wrong, never far under-estimated."""

import numpy as np
import pytest
from tests.accuracy.space_cases import bump, family, parabola, relative_error, step, wall, wave

import sharpfront as sf
from sharpfront.equation.values import environment, form_values

SEED, COUNT, TOL = 20261115, 15, 1e-5
# On patches functions are cheap; on shapes they are all in one dense system.
PATCHES, SHAPES = 8000, 900
# Above these the error is more than rounding.
ROUNDING = 1e-12


def cases():
    return [c for c in family(SEED, COUNT) if c.problem.domain.dimension == 2]


def most_of(case):
    return PATCHES if isinstance(case.problem.domain, sf.Box) else SHAPES


@pytest.fixture(scope="module")
def solved():
    return [(case, sf.solve(case.problem, tol=TOL, max_kernels=most_of(case))) for case in cases()]


def test_nothing_that_converged_is_wrong(solved):
    wrong = [
        (case.name, error)
        for case, solution in solved
        if solution.converged and (error := relative_error(case, solution)) > 2 * TOL
    ]
    assert not wrong


def test_what_converged_is_not_under_estimated(solved):
    under = []
    for case, solution in solved:
        error = relative_error(case, solution)
        if solution.converged and error > ROUNDING and error > 5 * solution.error_estimate:
            under.append((case.name, error, solution.error_estimate))
    assert not under


def test_most_of_them_converge_within_few_kernels(solved):
    failed = [case.name for case, solution in solved if not solution.converged]
    assert len(failed) <= 0.35 * len(solved), failed
    assert all(solution.kernels <= most_of(case) for case, solution in solved)


def test_what_did_not_converge_says_so_with_a_large_estimate(solved):
    for _, solution in solved:
        if not solution.converged:
            assert solution.error_estimate > TOL
            assert solution.outcome.kind in ("kernel limit reached", "stalled", "unresolved")


# --- the cases themselves ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "factor",
    [
        wave(1.3, 2.0, 0.4),
        parabola(1, -2, 0.7),
        wall(0, 1, 0.2),
        wall(1, -1, 0.3),
        step(0.4, 0.2),
        bump(0.5, 0.3),
    ],
    ids=lambda f: f.words,
)
def test_derivatives_of_the_factors(factor):
    s, h = np.linspace(0.1, 0.9, 7), 1e-4
    value, first, second = factor.derivatives(s)
    ahead, behind = factor.derivatives(s + h)[0], factor.derivatives(s - h)[0]
    np.testing.assert_allclose(first, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second, (ahead - 2 * value + behind) / h**2, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("number", [0, 4, 7])
def test_the_exact_solution_satisfies_the_equation(number):
    """Checked by differences of the exact solution, which the source was not made with."""
    case = list(family(5, 8))[number]
    domain = case.problem.domain
    inside = domain.sample(200)
    h = 1e-4
    middle = case.exact(*inside.T)
    orders = {(0,) * domain.dimension: middle}
    for i in range(domain.dimension):
        shift = np.zeros(domain.dimension)
        shift[i] = h
        up, down = (case.exact(*(inside + sign * shift).T) for sign in (1, -1))
        unit = tuple(int(i == j) for j in range(domain.dimension))
        orders[unit] = (up - down) / (2 * h)
        orders[tuple(2 * k for k in unit)] = (up - 2 * middle + down) / h**2
    (form,) = case.problem.forms
    leaves = environment(domain.coordinates, inside)
    coefficients, source = form_values(form, leaves, len(inside))
    terms = [c * orders[t.orders] for c, t in zip(coefficients, form.terms, strict=True)]
    residual = sum(terms) + source
    size = np.max(np.abs(terms), axis=0) + np.abs(source) + 1.0
    assert np.median(np.abs(residual) / size) < 1e-4


def test_the_same_seed_gives_the_same_problems():
    one, other = ([case.name for case in family(3, 12)] for _ in range(2))
    assert one == other
    assert len(set(one)) == 12
