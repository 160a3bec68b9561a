"""Derivatives of solutions with respect to the parameters of a family."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.expression import Constant
from sharpfront.errors import ArgumentError, ProblemError
from sharpfront.problem.family import Family

LINE = sf.Interval(0, 1)


def layer(nu, c=1.0):
    return sf.Problem(
        LINE, lambda u, x: -nu * u.dxx + c * u.dx, left=lambda u, x: u, right=lambda u, x: u - 1
    )


def layer_rate(x, nu):
    d, a = math.exp(-1 / nu), np.exp((x - 1) / nu)
    rate = a * (1 - x) / nu**2 - d / nu**2
    return (rate * (1 - d) + (a - d) * d / nu**2) / (1 - d) ** 2


def relative(found, exact):
    return np.abs(found - exact).max() / max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("nu", [0.13, 1.7e-2, 2e-3, 1e-4])
def test_a_layer_against_the_exact_derivative(nu):
    v = sf.solve(layer, nu=nu, tol=1e-8).sensitivity("nu")
    x = np.concatenate([np.linspace(0, 1, 99), 1 - nu * np.geomspace(1e-3, 7, 99)])
    error = relative(v(x), layer_rate(x, nu))
    assert v.converged and error < 1e-8
    assert 0.5 * error < v.error_estimate < 5 * max(error, 1e-12)


@pytest.mark.parametrize(("error", "tol"), [(1e-3, 1e-4), (1e-5, 1e-5), (1e-6, 1e-4)])
@pytest.mark.parametrize(("family", "name"), [(layer, "c"), (layer, "nu")])
def test_a_derivative_is_not_known_better_than_the_solution(family, name, error, tol):
    solution = sf.solve(family, nu=0.1, c=1.0, tol=1e-6)
    rough = replace(solution, estimate=replace(solution.estimate, value=error))
    v = rough.sensitivity(name, tol=tol)
    size = np.abs(v(np.linspace(0, 1, 99))).max()
    assert v.error_estimate > error / max(1.0, size)
    assert v.converged == (v.error_estimate <= tol * min(1.0, size))
    assert v.converged or "smaller tol" in v.outcome.remedy


# Exact derivatives: u = a**2 (1 - exp(-x)), and so on; the ways in which a family may be written.
def by_float(a):
    a = float(a)  # cannot be traced
    return sf.Problem(LINE, lambda u, x: u.dx - math.pow(a, 3) * x**2, left=lambda u, x: u - a)


def by_integral(a):
    mean = sf.integral(lambda u, x: u, equals=a**2)
    return sf.Problem(LINE, lambda u, x: u.dx - 1, conditions=[mean])


def by_point(a):
    return sf.Problem(LINE, lambda u, x: u.dx + u, conditions=[sf.at(0.5, lambda u, x: u - a**3)])


def by_text(a):
    return sf.Problem(LINE, "u_x = -a*u", left="u = 1", parameters={"a": a})


def nonlinear(a):
    return sf.Problem(LINE, lambda u, x: u.dx + a * u**2, left=lambda u, x: u**3 - 8)


def place(a):  # of a jump: residuals have no derivative
    return sf.Problem(LINE, lambda u, x: u.dx - np.where(x < a, 1.0, 3.0), left=lambda u, x: u)


def length(a):
    return sf.Problem(sf.Interval(0, a), lambda u, x: u.dxx + 2, boundary=lambda u, x: u)


def material(a):
    k = lambda x: np.where(x < 0.5, 1.0, a)  # noqa: E731
    return sf.Problem(
        LINE, lambda u, x: (k(x) * u.dx).dx, left=lambda u, x: u, right=lambda u, x: u - 1
    )


def material_rate(x, a):
    lower, flux_rate = 2 / (1 + 1 / a), 2 / (1 + a) ** 2
    upper_rate = -flux_rate / a + lower / a**2
    return np.where(x < 0.5, flux_rate * x, upper_rate * (1 - x))


@pytest.mark.parametrize(
    ("family", "rate", "tol"),
    [
        (by_float, lambda x, a: a**2 * x**3 + 1, 1e-8),
        (by_integral, lambda x, a: 2 * a + 0 * x, 1e-8),
        (by_point, lambda x, a: 3 * a**2 * np.exp(0.5 - x), 1e-8),
        (by_text, lambda x, a: -x * np.exp(-a * x), 1e-8),
        (nonlinear, lambda x, a: -4 * x / (1 + 2 * a * x) ** 2, 1e-8),
        (length, lambda x, a: x, 1e-6),
        (material, material_rate, 1e-5),
    ],
)
@pytest.mark.parametrize("a", [0.7, 1.3])
def test_parameters_may_stand_anywhere(family, rate, tol, a):
    v = sf.solve(family, a=a).sensitivity("a")
    x = np.linspace(0.01, 0.69, 41)
    error = np.abs(v(x) - rate(x, a)).max()
    assert error < max(tol, v.error_estimate)


def test_a_place_of_a_jump_is_no_smooth_parameter_and_is_not_taken_for_one():
    solution = sf.solve(place, a=0.4)
    v = solution.sensitivity("a")
    assert Family.of(place).forcing(solution.problem, {"a": 0.4}, "a") is None
    assert v(0.9) == pytest.approx(-2.0, abs=1e-3) and v(0.1) == pytest.approx(0.0, abs=1e-3)
    assert not v.converged and v.error_estimate > 0.01  # it jumps there


def test_derivatives_come_from_the_graph_where_it_can_be_traced():
    problem = layer(0.1)
    found = Family.of(layer).forcing(problem, {"nu": 0.1, "c": 1.0}, "nu")
    assert repr(found.equations[0]) == "u_xx*(-1)"
    assert all(isinstance(e, Constant) for group in found.conditions for e in group)


@pytest.mark.parametrize(("width", "place"), [(1e-2, 0.3), (1e-3, 0.3712), (1e-4, 0.6543)])
def test_what_the_solution_has_nothing_of_is_found_in_its_sensitivity(width, place):
    """At q = 0 nothing is narrow, and the kernels of the solution know of no bump."""

    def bump(q):
        return sf.Problem(
            LINE,
            lambda u, x: -u.dxx + u - 1 - q / width * np.exp(-(((x - place) / width) ** 2)),
            boundary=lambda u, x: u,
        )

    v = sf.solve(bump, q=0.0, tol=1e-6).sensitivity("q")
    x = np.array([0.1, place, 0.9])
    exact = sf.solve(bump(1.0), tol=1e-8)(x) - sf.solve(bump(0.0), tol=1e-8)(x)
    assert np.abs(v(x) - exact).max() < max(1e-5, 3 * v.error_estimate)
    assert v.converged


def raised(a):
    source = lambda u, x: u.dxx + np.pi**2 * np.exp(a) * np.sin(np.pi * x)  # noqa: E731
    return sf.Problem(LINE, source, boundary=lambda u, x: u)


def fed(a):
    return sf.Problem(
        LINE,
        lambda u, x, t: u.dt - u.dxx - np.pi**2 * u * (1 + a),
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 0.2),
    )


@pytest.mark.parametrize("a", [0.0, 1e-12, -1e-9, 1e-5])
@pytest.mark.parametrize(
    ("family", "at", "speed"), [(raised, (), 1.0), (fed, (0.2,), np.pi**2 / 5)]
)
def test_a_parameter_next_to_zero_is_like_any_other(family, at, speed, a):
    v, x = sf.solve(family, a=a, tol=1e-6).sensitivity("a"), np.linspace(0, 1, 21)
    error = np.abs(v(x, *at) - speed * np.exp(speed * a) * np.sin(np.pi * x)).max()
    assert v.converged and error < 1e-5 and error < 2 * v.error_estimate


def chain(k):
    return sf.Problem(
        LINE, lambda u, w, x: (u.dx - k * w, w.dx + k * u), left=lambda u, w, x: (u, w - 1)
    )


def test_a_system():
    v = sf.solve(chain, k=2.0).sensitivity("k")
    x = np.linspace(0, 1, 21)
    assert np.abs(v.u(x) - x * np.cos(2 * x)).max() < 1e-7
    assert np.abs(v.w(x) + x * np.sin(2 * x)).max() < 1e-7


def plate(q, k=1.0):
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -k * sf.laplacian(u) - q**2 * np.sin(np.pi * x) * np.sin(np.pi * y),
        boundary=lambda u, x, y: u - k,
    )


@pytest.mark.parametrize(("name", "rate"), [("q", 0.5), ("k", -0.125)])
def test_in_the_plane(name, rate):
    v = sf.solve(plate, q=0.5, k=1.0, tol=1e-6).sensitivity(name)
    x, y = np.linspace(0.1, 0.9, 5), 0.3
    shape = np.sin(np.pi * x) * np.sin(np.pi * y) / np.pi**2
    exact = shape * rate + (name == "k")
    assert v.converged and np.abs(v(x, y) - exact).max() < 1e-5


def hill(a, b, q):  # with functions of corners, which all patches share
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) + q * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 0.5),
        boundary=lambda u, x, y: u,
    )


def held(a, b, q):  # where the operator varies, with what holds at a point and as an integral
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: (1 + 0.2 * np.sin(x)) * sf.laplacian(u) + a * x + b * y,
        boundary=lambda u, x, y: u.dn,
        conditions=[sf.integral(lambda u, x, y: u - q * x, equals=a)],
    )


def bent(a, b, q):  # about a solution of its own
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) - a * u**3 + b * x,
        boundary=lambda u, x, y: u - q * y,
    )


@pytest.mark.parametrize("family", [hill, held, bent])
def test_derivatives_that_are_found_together_are_those_found_alone(family):
    names = ["a", "b", "q"]
    solution = sf.solve(family, a=0.4, b=0.6, q=2.0, tol=1e-3)
    x, y = np.meshgrid(*[np.linspace(0.05, 0.95, 7)] * 2)
    many = solution.member.sensitivities(solution, names)
    rough = solution.member.derivatives(solution, names)
    for name, v, fast in zip(names, many, rough, strict=True):
        alone = solution.sensitivity(name)
        assert np.abs(v(x, y) - alone(x, y)).max() < 1e-9 and v.converged == alone.converged
        assert v.error_estimate == pytest.approx(alone.error_estimate, rel=1e-2, abs=1e-10)
        (own,) = solution.member.derivatives(solution, [name])
        points = np.column_stack([x.ravel(), y.ravel()])
        assert (
            np.abs(fast.values("u", points, (0, 0)) - own.values("u", points, (0, 0))).max() < 1e-9
        )


def fading(k, a=1.0, g=0.0):
    return sf.Problem(
        LINE,
        lambda u, x, t: u.dt - k * u.dxx,
        boundary=lambda u, x, t: u - g * t,
        initial=lambda x: a * np.sin(np.pi * x),
        time=(0, 0.4),
    )


def test_in_time():
    solution = sf.solve(fading, k=0.3, tol=1e-6)
    x, t = np.meshgrid(np.linspace(0, 1, 9), [0.1, 0.4])
    u = np.exp(-0.3 * np.pi**2 * t) * np.sin(np.pi * x)
    for name, exact in (("k", -(np.pi**2) * t * u), ("a", u)):
        v = solution.sensitivity(name)
        error = relative(v(x, t), exact)
        assert v.converged and error < 1e-5 and error < 3 * v.error_estimate
    edge = solution.sensitivity("g")
    assert edge(0.0, [0.2, 0.4]) == pytest.approx([0.2, 0.4], abs=1e-7)


def drifting(k, c):  # on a ring, two unknowns that change into each other
    return sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, v, x, t: (u.dt + c * u.dx - k * u.dxx + v, v.dt + c * v.dx - k * v.dxx - u),
        initial={"u": lambda x: np.sin(2 * np.pi * x), "v": lambda x: np.cos(2 * np.pi * x)},
        time=(0, 0.3),
    )


@pytest.mark.parametrize("c", [0.7, -1.2])
def test_on_a_ring_and_of_systems(c):
    k, (x, t) = 0.02, np.meshgrid(np.linspace(0, 1, 9), [0.1, 0.3])
    solution = sf.solve(drifting, k=k, c=c, tol=1e-6)
    phase, size = 2 * np.pi * (x - c * t) - t, np.exp(-4 * np.pi**2 * k * t)
    assert np.abs(solution.u(x, t) - size * np.sin(phase)).max() < 1e-5
    by_k, by_c = solution.member.sensitivities(solution, ["k", "c"])
    for v, rate in (
        (by_k, -4 * np.pi**2 * t * np.sin(phase)),
        (by_c, -2 * np.pi * t * np.cos(phase)),
    ):
        assert v.converged and relative(v.u(x, t), size * rate) < 2e-5


def test_a_sensitivity_is_a_solution_like_any_other(tmp_path):
    v = sf.solve(length, a=1.0).sensitivity("a")
    again = sf.load(v.save(tmp_path / "v.npz"))
    assert again(0.3) == v(0.3) and again.error_estimate == v.error_estimate
    solution = sf.solve(lambda nu: layer(nu), nu=0.1)
    assert pickle.loads(pickle.dumps(solution))(0.5) == solution(0.5)


def test_what_is_refused():
    with pytest.raises(ProblemError, match="through its family"):
        sf.solve(layer(0.1)).sensitivity("nu")
    solution = sf.solve(layer, nu=0.1)
    with pytest.raises(ProblemError, match="no parameter 'mu'"):
        solution.sensitivity("mu")
    with pytest.raises(ProblemError, match=r"needs nu.*nu=1\.0"):
        sf.solve(layer)
    with pytest.raises(ArgumentError, match=r"'mu' is neither .* nu, c"):
        sf.solve(layer, mu=0.1)
    with pytest.raises(ProblemError, match="a Problem"):
        sf.solve(lambda nu: nu, nu=0.1)


@pytest.mark.parametrize(("width", "place"), [(1e-3, 0.3712), (1e-5, 0.6543)])
def test_what_no_patch_sees_on_a_side_is_looked_for_in_derivatives_and_neighbours(width, place):
    def bump(a, nu):
        return sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y: -nu * sf.laplacian(u) - 1,
            left=lambda u, x, y: u - a * np.exp(-(((y - place) / width) ** 2)),
            right=lambda u, x, y: u,
            bottom=lambda u, x, y: u,
            top=lambda u, x, y: u,
        )

    without = sf.solve(bump, a=0.0, nu=1.0, tol=1e-4)
    assert without.converged and not without.sensitivity("a").converged
    assert without.sensitivity("nu").converged
    missed = sf.solve(bump, a=1.0, nu=1.0, tol=1e-4)
    near = missed.member.neighbour(missed, {"a": 1.0, "nu": 1.2}, 1e-4)
    assert not missed.converged and not near.converged
    # Nor is one called solved, in a turn or two on the patches of one that was not.
    assert missed.member._on_kernels(missed, {"a": 1.0, "nu": 1.2}, 1e-4) is None


@pytest.mark.parametrize("end", [0.7, 1.6])
def test_the_end_of_time_changes_nothing_before_it(end):
    def shaken(end):
        def equation(u, x, t):
            own = np.exp(-t) * np.sin(np.pi * x)
            rate = -np.cos(t / end) - np.sin(t / end) / end + np.pi**2 * np.cos(t / end)
            return u.dt - u.dxx - own * rate

        start = lambda x: np.sin(np.pi * x)  # noqa: E731
        return sf.Problem(
            LINE, equation, boundary=lambda u, x, t: u, initial=start, time=(0.0, end)
        )

    v = sf.solve(shaken, end=end, tol=1e-5).sensitivity("end")
    x, t = np.linspace(0, 1, 9), end * np.linspace(0, 1, 7)[:, None]
    exact = np.sin(np.pi * x) * np.exp(-t) * np.sin(t / end) * t / end**2
    error = np.abs(v(x, t) - exact).max()
    assert v.converged and error < max(1e-5, 5 * v.error_estimate) and v.error_estimate < 1e-4


def test_beside_a_load_that_moves_the_estimate_says_so():
    def loaded(a):
        return sf.Problem(LINE, lambda u, x: -u.dxx - sf.delta(x - a), boundary=lambda u, x: u)

    v = sf.solve(loaded, a=0.3).sensitivity("a")
    assert abs(v(0.3 - 1e-9) + 0.3) > 0.4
    assert not v.converged and v.error_estimate > 1e-2
