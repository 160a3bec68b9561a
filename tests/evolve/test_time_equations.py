"""A problem in time as a system of first order: what is matched, added and refused."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.text import to_text
from sharpfront.errors import ProblemError
from sharpfront.evolve.time_system import time_system

LINE, CIRCLE = sf.Interval(0, 1), sf.Interval(0, 1, periodic=True)
WIDE = sf.Interval(-1, 1)
FIXED = {"boundary": lambda u, x, t: u}


def system(equation, domain=CIRCLE, initial=(0.0, 0.0), **conditions):
    return time_system(sf.Problem(domain, equation, initial=initial, time=(0, 1), **conditions))


def rates(found):
    """Return the unknowns whose time derivative each equation holds."""
    return [{t.unknown for t in e.terms if t.orders[1]} for e in found.equations]


def test_one_equation():
    found = system(lambda u, x, t: u.dt + u * u.dx - 0.1 * u.dxx, initial=0.0)
    assert found.names == ("u",) and found.order == 2 and not found.is_linear
    assert found.periodic and (found.low, found.high) == (0.0, 1.0)
    assert found.conditions == ()
    assert np.array_equal(found.initial("u")(np.array([0.1, 0.2])), [0.0, 0.0])
    assert system(lambda u, x, t: u.dt + u.d("x", 4), initial=0.0).order == 4
    assert system(lambda u, x, t: u.dt - u.dx, initial=0.0).is_linear


@pytest.mark.parametrize("swapped", [False, True])
def test_equations_are_matched_with_the_unknowns_whose_rates_they_hold(swapped):
    def equation(u, v, x, t):
        both = (u.dt - v.dx, v.dt - 4 * u.dx)
        return both[::-1] if swapped else both

    found = system(equation)
    assert rates(found) == [{"u"}, {"v"}]


def test_matching_with_several_rates_in_one_equation():
    found = system(lambda u, v, x, t: (u.dt + v.dt - u.dx, u.dt - v.dx))
    assert rates(found) == [{"u"}, {"u", "v"}] or rates(found) == [{"u", "v"}, {"u"}]
    # Only one order leaves an equation with v's rate to v.
    assert "v" in rates(found)[1]


def test_second_order_gets_a_companion():
    found = system(lambda u, x, t: u.dtt + 0.3 * u.dt - 4 * u.dxx)
    assert found.names == ("u", "u_t")
    assert rates(found) == [{"u"}, {"u_t"}]
    first, second = (to_text(e.expression) for e in found.equations)
    assert first.replace(" ", "") in ("u_t-u_t", "-u_t+u_t")
    damping = [t for t in found.equations[1].terms if t.unknown == "u_t" and not t.orders[1]]
    assert len(damping) == 1 and damping[0].orders == (0, 0)
    assert "u_xx" in second


def test_conditions_on_a_second_order_unknown_hold_for_its_rate():
    found = system(
        lambda u, x, t: u.dtt - u.dxx,
        LINE,
        left=lambda u, x, t: u - np.sin(3 * t),
        right=lambda u, x, t: u.dn + u,
    )
    assert [c.side for c in found.conditions] == [0, 0, 1, 1]
    rate = found.conditions[1]
    (term,) = rate.terms
    assert (term.unknown, term.orders) == ("u_t", (0, 0))
    # u = sin 3t makes u_t = 3 cos 3t.
    leaves = {
        ("derivative", "u_t", (0, 0)): np.array([3 * np.cos(0.6)]),
        ("coordinate", "x"): np.zeros(1),
        ("coordinate", "t"): np.array([0.2]),
    }
    assert abs(rate.at(leaves, 1)[0]) < 1e-12
    assert {(t.unknown, t.orders) for t in found.conditions[3].terms} == {
        ("u_t", (1, 0)),
        ("u_t", (0, 0)),
    }


@pytest.mark.parametrize(("side", "sign"), [("left", -1.0), ("right", 1.0)])
def test_normal_derivative_points_outwards(side, sign):
    conditions = {"left": lambda u, x, t: u, "right": lambda u, x, t: u}
    conditions[side] = lambda u, x, t: u.dn - 2
    found = system(lambda u, x, t: u.dt - u.dxx, LINE, initial=0.0, **conditions)
    (condition,) = (c for c in found.conditions if c.terms[0].orders == (1, 0))
    leaves = {("derivative", "u", (1, 0)): np.array([5.0]), ("coordinate", "t"): np.zeros(1)}
    assert np.isclose(condition.at(leaves, 1)[0], 5 * sign - 2)
    assert condition.side == (side == "right")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: system(lambda u, x, t: u.dt - u.dxx, LINE, 0.0, left=lambda u, x, t: u),
            "needs 2 conditions at the ends together; got 1",
        ),
        (
            lambda: system(lambda u, x, t: u.dt - u.dxx, LINE, 0.0),
            "needs 2 conditions at the ends together; got 0",
        ),
        (
            lambda: system(
                lambda u, x, t: u.dt - u.dxx, LINE, 0.0, boundary=lambda u, x, t: (u, u.dx)
            ),
            "needs 2 conditions at the ends together; got 4",
        ),
        (
            lambda: system(
                lambda u, x, t: u.dt + u.d("x", 4), LINE, 0.0, boundary=lambda u, x, t: u
            ),
            "order 4 in x and needs 4 conditions at the ends together; got 2",
        ),
        (
            lambda: system(
                lambda u, x, t: u.dt + u.d("x", 3), LINE, 0.0, boundary=lambda u, x, t: u
            ),
            "order 3 in x and needs 3 conditions",
        ),
        (
            lambda: system(lambda u, x, t: u.dtt - u.dxx, LINE, left=lambda u, x, t: u),
            "needs 2 conditions at the ends together; got 1",
        ),
        (
            lambda: system(lambda u, x, t: u.dt + u.d("x", 5), initial=0.0),
            "order 5 in x and 0 in t; known are up to 4",
        ),
        (
            lambda: system(lambda u, x, t: u.dt - u.d("x", 3).dt, initial=0.0),
            "order 3 in x and 1 in t",
        ),
        (lambda: system(lambda u, x, t: u.dtt + u.dxx, initial=(0.0, 0.0)), "as in u_tt = -u_xx"),
        (lambda: system(lambda u, x, t: u.d("x", 4) - u.dtt, initial=(0.0, 0.0)), "order 4 has"),
        (lambda: system(lambda u, x, t: u.d("t", 3) - u.dx), "up to order 3"),
        (lambda: system(lambda u, x, t: u.dt + 0.1 * u.dxx, initial=0.0), "runs backwards"),
        (lambda: system(lambda u, x, t: u.dxx - 2 * -u.dt, initial=0.0), "runs backwards"),
        (lambda: system(lambda u, x, t: u.dt - u.d("x", 4), initial=0.0), "runs backwards"),
        (lambda: system(lambda u, x, t: u.dt - x * u.dxx, WIDE, 0.0, **FIXED), "near x = -0.9"),
        (lambda: system(lambda u, x, t: u.dt + u.dx, LINE, 0.0), "left end 1 .* flow in"),
        (lambda: system(lambda u, x, t: u.dt + u.dx, LINE, 0.0, **FIXED), "right end 0 .*; got 1"),
        (
            lambda: system(lambda u, x, t: u.dt - u.dx, LINE, 0.0, left=lambda u, x, t: u),
            "left end 0 .*; got 1",
        ),
        (
            lambda: system(lambda u, v, x, t: (u.dt + v.dt - u.dx, u - v)),
            "one equation each that holds their time derivative",
        ),
        (
            lambda: system(
                lambda u, x, t: u.dt - u.dxx,
                initial=0.0,
                conditions=sf.integral(lambda u, x, t: u, equals=1),
            ),
            "cannot be combined with time=",
        ),
    ],
)
def test_what_cannot_be_solved_is_refused(make, words):
    with pytest.raises(ProblemError, match=words):
        make()


def test_right_numbers_of_conditions_are_taken():
    clamped = system(
        lambda u, x, t: u.dt + u.d("x", 4), LINE, 0.0, boundary=lambda u, x, t: (u, u.dx)
    )
    assert len(clamped.conditions) == 4
    third = system(
        lambda u, x, t: u.dt + u.d("x", 3),
        LINE,
        0.0,
        left=lambda u, x, t: u,
        right=lambda u, x, t: (u, u.dx),
    )
    assert len(third.conditions) == 3
    coupled = system(
        lambda u, v, x, t: (u.dt - u.dxx - v, v.dt - v.dxx + u),
        LINE,
        boundary=lambda u, v, x, t: (u, v.dn),
    )
    assert len(coupled.conditions) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"guess": lambda x: x}, "guess"),
        ({"kernel": "inverse-multiquadric"}, "kernel"),
        ({"tol": 2.0}, "between 0 and 1"),
        ({"tol": 0.0}, "between 0 and 1"),
    ],
)
def test_options_that_time_does_not_take(options, words):
    problem = sf.Problem(CIRCLE, lambda u, x, t: u.dt - u.dx, initial=0.0, time=(0, 1))
    with pytest.raises(ProblemError, match=words):
        sf.solve(problem, **options)


def test_resume_belongs_to_time():
    still = sf.Problem(LINE, lambda u, x: u.dxx, boundary=lambda u, x: u)
    solution = sf.solve(still)
    with pytest.raises(ProblemError, match="no time="):
        sf.solve(still, resume=solution)
    problem = sf.Problem(CIRCLE, lambda u, x, t: u.dt - u.dx, initial=0.0, time=(0, 1))
    with pytest.raises(ProblemError, match="same problem in time"):
        sf.solve(problem, resume=solution)


@pytest.mark.parametrize(("speed", "ring"), [(1.5, False), (1.8, True)])
def test_rates_may_be_differentiated_along_x(speed, ring):
    """The solitary wave of u_t + u_x + u u_x = u_xxt (Benjamin, Bona, Mahony)."""
    width = np.sqrt((speed - 1) / (4 * speed))

    def wave(x, t):
        return 3 * (speed - 1) / np.cosh(width * (x - speed * t)) ** 2

    problem = sf.Problem(
        sf.Interval(-50, 50, periodic=ring),
        lambda u, x, t: u.dt + u.dx + u * u.dx - u.dxx.dt,
        initial=lambda x: wave(x, 0.0),
        time=(0, 3),
        **({} if ring else {"boundary": lambda u, x, t: u}),
    )
    solution = sf.solve(problem, tol=1e-6)
    x = np.linspace(-45, 45, 401)
    assert solution.converged
    assert np.abs(solution(x, 3.0) - wave(x, 3.0)).max() < 1e-6


@pytest.mark.parametrize(
    ("conditions", "shape", "wave"),
    [
        ({"boundary": lambda u, x, t: u}, np.sin, np.pi),
        ({"boundary": lambda u, x, t: u.dx}, np.cos, np.pi),
        ({"left": lambda u, x, t: u, "right": lambda u, x, t: u.dx}, np.sin, 1.5 * np.pi),
        ({}, np.sin, 2 * np.pi),
    ],
)
def test_a_rod_whose_sections_have_inertia(conditions, shape, wave):
    # Love's equation, u_tt = u_xx + 0.1 u_xxtt: waves go the slower the shorter they are.
    rate = wave / np.sqrt(1 + 0.1 * wave**2)
    problem = sf.Problem(
        sf.Interval(0, 1, periodic=not conditions),
        lambda u, x, t: u.dtt - u.dxx - 0.1 * u.dtt.dxx,
        initial=(lambda x: shape(wave * x), 0.0),
        time=(0, 1),
        **conditions,
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    x = np.linspace(0, 1, 101)
    error = solution.u(x, np.ones_like(x)) - shape(wave * x) * np.cos(rate)
    assert np.abs(error).max() < min(solution.error_estimate, 1e-6)


@pytest.mark.parametrize(
    ("domain", "equation"),
    [
        (LINE, lambda u, x, t: (np.where(t < 0.5, 1, 2) * u).dt - u.dxx),
        (LINE, lambda u, x, t: (np.where(x < 0.2 + t, 1, 2) * u).dt - u.dxx),
        (
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y, t: (np.where(t < 0.5, 1, 2) * u).dt - sf.laplacian(u),
        ),
    ],
)
def test_rates_of_what_jumps_are_refused(domain, equation):
    problem = sf.Problem(domain, equation, boundary=lambda u: u, initial=0.0, time=(0, 1))
    with pytest.raises(ProblemError, match=r"the quantity goes on and the state jumps"):
        sf.solve(problem)
