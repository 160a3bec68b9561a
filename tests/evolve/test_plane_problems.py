"""Problems in time in the plane with exact solutions."""

import dataclasses

import numpy as np
import pytest
from tests.evolve.plane_runs import CASES, errors, rule, solved, stated

import sharpfront as sf
from sharpfront.budget import Budget
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.patchwork import needs_patches
from sharpfront.evolve.plane import evolve_plane

# The shock is a front that is followed as the circle is, in half of the time.
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] * (name == "growing-circle")) for name in CASES
]


@pytest.mark.parametrize("name", NAMES)
def test_errors_over_space_and_time_are_below_their_bounds(name):
    *_, relative, largest, kernels = CASES[name]
    assert errors(name)[0] < relative
    assert errors(name)[1] < largest
    assert solved(name).kernels < kernels
    assert solved(name).converged


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_is_not_below_the_error(name):
    assert solved(name).error_estimate > 0.7 * errors(name)[1]
    assert solved(name).error_estimate < 100 * errors(name)[1]


def test_components_follow_the_shock():
    last = solved("oblique-shock").history[-1]
    # x + y = t + 1/4: at the end the front crosses y = 1/2 at x = 1/4, and moves with speed 1.
    first = int(np.argmax(np.abs(last.mixture.covariances[:, 0, 1])))
    np.testing.assert_allclose(last.mixture.means[first], [0.25, 0.5], atol=0.03)
    np.testing.assert_allclose(np.abs(last.speeds[first]).max(), 1.0, rtol=0.06)


def test_components_follow_the_pulse():
    for record in solved("turning-pulse").history:
        turned = 2 * np.pi * record.time
        near = np.abs(record.mixture.means[:, None] - [0.5 * np.cos(turned), 0.5 * np.sin(turned)])
        # One component along x, one along y.
        assert near[:, 0, 0].min() < 0.05
        assert near[:, 0, 1].min() < 0.05


def test_a_front_across_the_axes_takes_few_kernels():
    # Without a slope of the components it takes 2033 for this error.
    assert solved("oblique-shock").kernels < 300
    assert errors("oblique-shock")[0] < 3e-4


def test_records_lead_to_the_end():
    solution = solved("heat")
    assert solution.history[-1].time == solution.domain.time[1] == 0.05
    assert [r.step for r in solution.history] == list(range(len(solution.history)))
    np.testing.assert_allclose(sum(r.dt for r in solution.history), 0.05)


def _interrupting(after):
    def on_step(record):
        if record.step == after:
            raise KeyboardInterrupt

    return on_step


@pytest.mark.parametrize("name", ["heat", pytest.param("oblique-shock", marks=pytest.mark.slow)])
def test_an_interrupted_run_goes_on_to_the_same_bits(name):
    tol, problem, whole = CASES[name][2], stated(name), solved(name)
    # Between two steps of one length if there are any: factored systems are used again there.
    lengths = [record.dt for record in whole.history]
    equal = (i for i in range(1, len(lengths) - 1) if lengths[i] == lengths[i + 1])
    after = next(equal, len(lengths) // 2)
    broken = evolve_plane(problem, tol, on_step=_interrupting(after))
    assert broken.outcome.kind is OutcomeKind.INTERRUPTED
    assert len(broken.history) == after + 1
    assert broken.domain.time[1] == broken.history[-1].time < whole.domain.time[1]
    resumed = evolve_plane(problem, tol, resume=broken)
    assert len(resumed.history) == len(whole.history)
    np.testing.assert_array_equal(
        resumed.approximation.weights["u"], whole.approximation.weights["u"]
    )
    assert resumed.error_estimate == whole.error_estimate


def test_a_run_that_is_interrupted_at_once_has_the_initial_state(monkeypatch):
    entry, value, tol, *_ = CASES["heat"]
    problem = entry.problem(value)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sharpfront.evolve.plane.product_steps._stages", interrupt)
    solution = evolve_plane(problem, tol)
    assert solution.outcome.kind is OutcomeKind.INTERRUPTED
    assert not solution.history
    exact = entry.exact(value)
    np.testing.assert_allclose(solution(0.4, 0.5, 0.0), exact(0.4, 0.5, 0.0), atol=tol)
    assert solution.error_estimate == np.inf


def _ring(end):
    def circle(x, y):
        return np.tanh((np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2 + 1e-4) - 0.3) / 0.02)

    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: u.dt - 1e-3 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u.dn,
        initial=circle,
        time=(0, end),
    )


def test_too_few_kernels_are_said():
    solution = evolve_plane(_ring(0.01), 1e-6, budget=Budget(max_kernels=220))
    assert solution.outcome.kind is OutcomeKind.KERNEL_LIMIT
    assert solution.error_estimate > 1e-6
    assert solution.kernels <= 220


@pytest.mark.parametrize("solved_there", [True, False])
def test_another_way_is_asked_where_products_do_not_hold_the_start(solved_there):
    other = solved("heat")
    other = other if solved_there else dataclasses.replace(other, history=())
    few = Budget(max_kernels=220)
    found = evolve_plane(_ring(1e-4), 1e-6, budget=few, instead=lambda: other)
    assert (found is other) == solved_there


def test_another_way_is_not_asked_where_products_hold_the_start():
    found = evolve_plane(stated("heat"), 0.1, instead=lambda: pytest.fail("asked"))
    assert found.converged


@pytest.mark.slow
def test_a_front_that_products_do_not_hold_is_solved_on_patches():
    entry, width, end, tol = CASES["growing-circle"][0], 0.02, 0.01, 1e-2
    solution = sf.solve(entry.problem(width).replace(time=(0.0, end)), tol=tol)
    assert solution.converged and solution.kernels > 3000
    points, _ = rule("growing-circle", width, solution.domain.space, end)
    error = solution(*points.T, end) - entry.exact(width)(*points.T, end)
    assert np.abs(error).max() < min(tol, 2 * solution.error_estimate)


@pytest.mark.slow
def test_a_run_whose_errors_outgrow_the_tolerance_is_repeated():
    """Errors on both sides of a thin shock are carried into it, and move it."""
    entry, nu, end, tol = CASES["oblique-shock"][0], 1e-4, 0.02, 1e-3
    steps = []
    solution = evolve_plane(
        entry.problem(nu).replace(time=(0.0, end)), tol, on_step=lambda r: steps.append(r.step)
    )
    assert solution.converged and steps.count(0) > 1
    points, _ = rule("oblique-shock", nu, solution.domain.space, end)
    error = solution(*points.T, end) - entry.exact(nu)(*points.T, end)
    assert np.abs(error).max() < min(tol, 2 * solution.error_estimate)


def _cooling(**conditions):
    return sf.Problem(
        sf.Box((0, 1), (0, 2)),
        lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u),
        initial=lambda x, y: np.cos(np.pi * x) * np.cos(np.pi * y / 2),
        time=(0, 1),
        **conditions,
    )


def _cooled(x, y, t):
    return np.exp(-0.125 * np.pi**2 * t) * np.cos(np.pi * x) * np.cos(np.pi * y / 2)


_X, _Y, _T = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 2, 21), np.linspace(0, 1, 6))


def _slope(x, y, t):
    decay = np.exp(-0.125 * np.pi**2 * t)
    return np.pi / 2 * decay * np.cos(np.pi * x) * np.sin(np.pi * y / 2)


@pytest.mark.parametrize(
    "conditions",
    [
        {"boundary": lambda u, x, y, t: u.dn},
        {"boundary": lambda u, x, y, t: u - _cooled(x, y, t)},
        {"boundary": lambda u, x, y, t: 3 * _cooled(x, y, t) - 3 * u - u.dn},
        {"boundary": lambda u, x, y, t: u.dn, "left": lambda u, x, y, t: _cooled(x, y, t) - u},
    ],
    ids=["slopes", "values", "both", "mixed"],
)
def test_conditions_of_every_kind(conditions):
    solution = evolve_plane(_cooling(**conditions), 1e-6)
    assert solution.converged
    assert np.max(np.abs(solution(_X, _Y, _T) - _cooled(_X, _Y, _T))) < 1e-6


def test_an_equation_with_its_signs_turned_round():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 2)),
        lambda u, x, y, t: sf.laplacian(u) / 10 - u.dt,
        boundary=lambda u, x, y, t: u.dn,
        initial=lambda x, y: np.cos(np.pi * x) * np.cos(np.pi * y / 2),
        time=(0, 1),
    )
    solution = evolve_plane(problem, 1e-6)
    assert np.max(np.abs(solution(_X, _Y, _T) - _cooled(_X, _Y, _T))) < 1e-6


def test_without_diffusion_only_the_inflow_counts():
    def exact(x, y, t):
        return np.exp(-(((x - t - 0.2) / 0.15) ** 2) - ((y - t / 2 - 0.3) / 0.15) ** 2)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: u.dt + u.dx + u.dy / 2,
        # Nothing flows in on the right and at the top: what is asked for there has no weight.
        boundary=lambda u, x, y, t: u - 7,
        left=lambda u, x, y, t: u - exact(x, y, t),
        bottom=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.5),
    )
    solution = evolve_plane(problem, 1e-4)
    x, y = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41))
    assert np.max(np.abs(solution(x, y, 0.5) - exact(x, y, 0.5))) < 1e-4


BARE = {
    "domain": sf.Box((0, 1), (0, 1)),
    "equation": lambda u, x, y, t: u.dt - sf.laplacian(u),
    "boundary": lambda u, x, y, t: u,
    "initial": 0.0,
    "time": (0, 1),
}
BEYOND_PRODUCTS = {
    "periodic sides": {"domain": sf.Box((0, 1), (0, 1), periodic=("x",))},
    "two unknowns": {
        "equation": lambda u, v, x, y, t: (u.dt - v, v.dt - u),
        "boundary": lambda u, v, x, y, t: u - v,
        "initial": (0.0, 0.0),
    },
    "order four": {"equation": lambda u, x, y, t: u.dt + u.d("x", 4)},
    "two conditions": {"boundary": lambda u, x, y, t: (u, u.dn)},
    "a rate on a side": {"boundary": lambda u, x, y, t: u.dt - u.dn},
    "second derivatives on a side": {"boundary": lambda u, x, y, t: u.dxx + u},
    "a point": {"conditions": sf.at((0.5, 0.5), lambda u, x, y, t: u)},
}


@pytest.mark.parametrize("name", BEYOND_PRODUCTS)
def test_what_products_do_not_carry_is_left_to_patches(name):
    assert needs_patches(_stated(**BEYOND_PRODUCTS[name]))
    assert not needs_patches(_stated())


def _stated(**changes):
    domain, equation, *rest = (BARE | changes).values()
    names = list(BARE | changes)[2:]
    return sf.Problem(domain, equation, **dict(zip(names, rest, strict=True)))


def test_only_an_interrupted_solution_of_the_same_kind_is_resumed():
    entry, value, tol, *_ = CASES["heat"]
    bare = dataclasses.replace(solved("heat"), checkpoint=None)
    with pytest.raises(sf.errors.ProblemError, match="resume"):
        evolve_plane(entry.problem(value), tol, resume=bare)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("diffusion", [1.0, 0.003])
def test_heat_that_runs_backwards_is_refused(sign, diffusion):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y, t: sign * (u.dt + diffusion * sf.laplacian(u)),
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
        time=(0, 1),
    )
    with pytest.raises(sf.SharpfrontError, match="runs backwards"):
        sf.solve(problem, tol=1e-3)


def test_what_a_start_misses_at_a_tip_counts():
    """No point of a grid meets the tip of a cone, where it is missed most."""

    def cone(x, y):
        return np.maximum(0, 1 - np.sqrt((x - 0.5) ** 2 + y**2) / 0.3)

    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y, t: u.dt + x * u.dy - y * u.dx,
        boundary=lambda u, x, y, t: u,
        initial=cone,
        time=(0, 1e-4),
    )
    solution = evolve_plane(problem, 0.2, budget=Budget(max_kernels=500))
    start = solution.history[0].error_estimate
    assert start > 0.9 * abs(solution(0.5, 0.0, 0.0) - 1.0)
