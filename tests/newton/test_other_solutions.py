"""Zero is asked about in whatever units u has, and where zero is no place to start from."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import OutcomeKind
from sharpfront.newton.other_solutions import heights, shapes

UNIT, SQUARE = sf.Interval(0, 1), sf.Box((0, 1), (0, 1))


def clamped(k):
    return sf.Problem(  # buckles from 4 pi^2 on
        UNIT, lambda u, x: u.d("x", 4) + 60 * u.dxx + k * u**3, boundary=lambda u, x: (u, u.dx)
    )


def cantilever(k):
    return sf.Problem(
        UNIT,
        lambda u, x: u.d("x", 4) + 4 * u.dxx + k * u**3,
        left=lambda u, x: (u, u.dx),
        right=lambda u, x: (u.dxx, u.d("x", 3) + 4 * u.dx),
    )


def soliton(k):
    return sf.Problem(
        sf.Interval(-15, 15), lambda u, x: u.dxx - u + 2 * k * u**3, boundary=lambda u, x: u
    )


def membrane(k):
    return sf.Problem(
        SQUARE, lambda u, x, y: sf.laplacian(u) + 30 * u - k * u**3, boundary=lambda u, x, y: u
    )


@pytest.mark.parametrize("k", [1e-8, 1.0, 1e10])
@pytest.mark.parametrize(
    ("stated", "size"),
    # sech is exact; the others are what finer solutions from such starts have.
    [(clamped, 19.0), (cantilever, 3.9), (soliton, 1.0), (membrane, 4.1)],
)
def test_zero_is_asked_about_in_units_of_any_size(stated, size, k):
    outcome = sf.solve(stated(k), tol=1e-4).outcome
    assert outcome.kind is OutcomeKind.SEVERAL_SOLUTIONS
    told = float(outcome.detail.split("as large as ")[1].split()[0].rstrip("."))
    assert told * k**0.5 == pytest.approx(size, rel=0.1)


def test_the_height_of_a_shape_is_galerkins():
    problem = sf.Problem(UNIT, lambda u, x: u.dxx + 20 * u - u**3, boundary=lambda u, x: u)
    points = np.linspace(0, 1, 402)[1:-1, None]
    (height,) = heights(problem, shapes(problem)[0], points)
    # With a = 4 x (1 - x): 20 int a^2 + int a a'' = h^2 int a^4; the next height that is tried.
    exact = ((20 * 8 / 15 - 16 / 3) / (128 / 315)) ** 0.5
    assert height == pytest.approx(exact, rel=0.25)


RATES = {
    "log": lambda u: np.log(u),
    "inverse": lambda u: 1 / u,
    "Arrhenius": lambda u: np.exp(2 * (u - 1) / u),
    "root": lambda u: np.sqrt(u),
}


@pytest.mark.parametrize("name", RATES)
def test_rates_that_are_not_finite_at_zero_are_solved_on_patches(name):
    rate = RATES[name]
    plane = sf.solve(
        sf.Problem(
            sf.Box((0, 1), (0, 1), periodic=("y",)),
            lambda u, x, y: sf.laplacian(u) + 0.2 * rate(u),
            boundary=lambda u, x, y: u - 1,
        ),
        tol=1e-5,
    )
    line = sf.solve(
        sf.Problem(UNIT, lambda u, x: u.dxx + 0.2 * rate(u), boundary=lambda u, x: u - 1)
    )
    pair = sf.solve(
        sf.Problem(
            UNIT,
            lambda u, v, x: (u.dxx + 0.2 * rate(u), v.dxx - 0.2 * rate(u)),
            boundary=lambda u, v, x: (u - 1, v),
        ),
        tol=1e-6,
    )
    assert plane.converged and line.converged and pair.converged
    assert plane(0.4, 0.3) == pytest.approx(line(0.4), abs=2e-5)
    assert pair.u(0.4) == pytest.approx(line(0.4), abs=2e-6)
    assert pair.v(0.4) == pytest.approx(1 - line(0.4), abs=2e-6)


def wedge(beta, length=10.0):
    return sf.Problem(  # Falkner and Skan's equation; the attached flow exists down to -0.1988
        sf.Interval(0, length),
        lambda f, x: f.d("x", 3) + f * f.dxx + beta * (1 - f.dx**2),
        left=lambda f, x: (f, f.dx),
        right=lambda f, x: f.dx - 1,
    )


def prey(rate):
    return sf.Problem(
        UNIT,
        lambda u, v, x: (rate * u.dxx + u * (1 - u - v), rate * v.dxx + v * (u - 0.3)),
        boundary=lambda u, v, x: (u - 0.5, v - 0.5),
    )


@pytest.mark.parametrize("beta", [-0.05, -0.15])
def test_a_flow_that_is_not_the_attached_one_is_told(beta):
    solution = sf.solve(wedge(beta), tol=1e-6)
    assert solution.d("x", 2)(0.0) < 0  # it flows backwards
    assert solution.outcome.kind is OutcomeKind.SEVERAL_SOLUTIONS
    assert "little by little" in solution.outcome.detail
    assert sf.solve(wedge(beta), tol=1e-6, guess=solution).converged


@pytest.mark.parametrize("problem", [wedge(0.5), wedge(0.0), wedge(-0.05, 6.0), prey(0.005)])
def test_what_data_lead_to_is_not_doubted(problem):
    assert sf.solve(problem, tol=1e-5).converged


def test_a_pair_that_data_do_not_lead_to_is_told():
    assert sf.solve(prey(0.012), tol=1e-5).outcome.kind is OutcomeKind.SEVERAL_SOLUTIONS
