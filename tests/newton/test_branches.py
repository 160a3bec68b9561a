"""Stable solutions of the line are asked whether they are one of several; monotone ones are not."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import OutcomeKind
from sharpfront.newton import branches

UNIT = sf.Interval(0, 1)


def bratu(strength, length=1.0, unit=1.0):
    return sf.Problem(
        sf.Interval(0, length),
        lambda u, x: length**2 / unit * u.dxx + strength * np.exp(u / unit),
        boundary=lambda u, x: u,
    )


def gelfand(strength):
    return sf.Problem(  # in a cylinder
        UNIT,
        lambda u, x: x * u.dxx + u.dx + 2 * strength * x * np.exp(u),
        left=lambda u, x: u.dx,
        right=lambda u, x: u,
    )


def film(radius):
    return sf.Problem(  # of soap between two rings
        sf.Interval(-1, 1),
        lambda u, x: u * u.dxx - 1 - u.dx**2,
        boundary=lambda u, x: u - radius,
    )


def threshold(rate, least, ends):
    return sf.Problem(  # a population that grows from `least` on
        UNIT,
        lambda u, x: rate * u.dxx + u * (1 - u) * (u - least),
        boundary=lambda u, x: u - ends,
    )


@pytest.mark.parametrize(
    ("problem", "apart"),
    [
        (bratu(1.0), 3.951),  # 4.0915 and 0.1405 in the middle
        (bratu(0.3), 5.82),
        (bratu(1.0, 1e3, 1e-3), 3.951e-3),
        (gelfand(0.25), 5.268),  # u(0) = log(16 B), 16 B = (1 + B)^2
        (film(2.0), 1.2),
    ],
)
def test_an_unstable_solution_beside_the_answer_is_told(problem, apart):
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged  # what u_t = F(u) goes to is taken as meant
    assert "another solution" in solution.outcome.detail
    told = float(solution.outcome.detail.split("differs from this one by ")[1].split(";")[0])
    assert told == pytest.approx(apart, rel=0.05)
    assert "another solution" not in sf.solve(problem, tol=1e-6, guess=solution).outcome.detail


@pytest.mark.parametrize("drawn", [(2.7e-3, 0.32, 0.08), (1.2e-3, 0.25, 0.04), (2e-3, 0.35, 0.06)])
def test_of_two_stable_solutions_none_is_taken_as_meant(drawn):
    problem = threshold(*drawn)
    low = sf.solve(problem, tol=1e-6)
    assert low.outcome.kind is OutcomeKind.SEVERAL_SOLUTIONS
    assert "as stable" in low.outcome.detail
    high = sf.solve(problem, tol=1e-6, guess=1.0)
    assert high.converged and high(0.5) > 0.9 > 0.2 > low(0.5)


MONOTONE = {
    "cubic": lambda u, x: -1e-2 * u.dxx + u**3 - np.cos(3 * x),
    "sinh": lambda u, x: u.dxx - 12 * np.sinh(u) + 3,
    "shock": lambda u, x: -1e-2 * u.dxx + u * u.dx + u - x,
    "conductivity": lambda u, x: ((1 + u**2) * u.dx).dx + np.sin(4 * x),
    "decay": lambda u, x: u.dxx + 2 * np.exp(-u),
}


@pytest.mark.parametrize("name", MONOTONE)
def test_where_one_solution_is_certain_newton_is_not_started(name, monkeypatch):
    asked = []

    def counted(*arguments):
        asked.append(arguments)

    monkeypatch.setattr(branches, "deflated", counted)
    solution = sf.solve(sf.Problem(UNIT, MONOTONE[name], boundary=lambda u, x: u), tol=1e-6)
    assert solution.converged and not asked


@pytest.mark.parametrize("rate", [6.0, 12.0, 20.0, 29.0])
def test_what_lies_behind_a_pole_is_no_solution(rate):
    uptake = sf.Problem(
        UNIT,
        lambda u, x: u.dxx - rate * u / (0.1 + u),
        left=lambda u, x: u.dx,
        right=lambda u, x: u - 1,
    )
    solution = sf.solve(uptake, tol=1e-6)
    assert solution.converged and "another" not in solution.outcome.detail
