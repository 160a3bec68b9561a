"""Growth on the way: estimates carry what was missed while the solution was small."""

import itertools

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.budget import DEFAULT
from sharpfront.evolve.blow_up import StepRecord, blow_up_time, runaway_time
from sharpfront.evolve.initial_state import first_state
from sharpfront.evolve.line import course_of
from sharpfront.evolve.run_start import begun
from sharpfront.evolve.time_system import time_system

# Estimates of a solution that was never lost.
FAITHFUL = [1e-6] * 100


def growing(rate, size, end, waves=1):
    """Return a problem whose solution grows from a small size, and its solution."""
    net = rate - (waves * np.pi) ** 2

    def exact(x, t):
        return size * np.sin(waves * np.pi * x) * np.exp(net * t)

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx - rate * u,
        boundary=lambda u, x, t: u,
        initial=lambda x: exact(x, 0.0),
        time=(0, end),
    )
    return problem, exact


def largest_error(solution, exact):
    """Return the largest error relative to max(1, max|u|) so far, at many moments."""
    x = np.linspace(*solution.domain.bounds[:, 0], 81)
    t = np.linspace(*solution.domain.time, 61)[:, None]
    scale = np.maximum.accumulate(np.maximum(1.0, np.abs(exact(x, t)).max(axis=1)))
    return float((np.abs(solution(x, t) - exact(x, t)).max(axis=1) / scale).max())


@pytest.mark.parametrize(
    ("rate", "size", "end", "waves", "tol"),
    [
        (30.0, 1e-6, 1.0, 1, 1e-6),
        (25.0, 1e-9, 1.5, 1, 1e-6),
        (70.0, 1e-5, 0.4, 2, 1e-6),
    ],
)
def test_growth_from_a_small_start_is_solved_with_an_honest_estimate(rate, size, end, waves, tol):
    problem, exact = growing(rate, size, end, waves)
    found = sf.solve(problem, tol=tol)
    error = largest_error(found, exact)
    assert found.converged
    assert error < 3 * found.error_estimate
    assert error < tol


@pytest.mark.parametrize(("power", "size", "diffusion"), [(2, 2.0, 0.3), (2.5, 3.0, 0.1)])
def test_a_blow_up_is_named_with_its_time(power, size, diffusion):
    problem = sf.Problem(
        sf.Interval(0, 2),
        lambda u, x, t: u.dt - diffusion * u.dxx - u**power,
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: size + 0 * x,
        time=(0, 2),
    )
    end = size ** (1 - power) / (power - 1)
    found = sf.solve(problem, tol=1e-3)
    assert found.outcome.kind == "blow-up" and not found.converged
    told = float(found.outcome.detail.split("towards t = ")[1].split(". ")[0])
    assert abs(told - end) < 2e-3 * end
    # What is returned ends before it, and holds.
    reached = found.domain.time[1]
    assert 0.9 * end < reached < end
    t = np.linspace(0, reached, 40)
    exact = ((power - 1) * (end - t)) ** (-1 / (power - 1))
    assert found.error_estimate <= found.tol
    assert np.max(np.abs(found(1.0, t) - exact) / exact) < found.tol


@pytest.mark.parametrize("rate", [0.3, 5.0])
def test_growth_without_end_is_no_blow_up(rate):
    times = np.linspace(0, 20 / rate, 60)
    marks = [StepRecord(a, b, float(np.exp(rate * b))) for a, b in itertools.pairwise(times)]
    assert blow_up_time(marks, FAITHFUL) is None


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("begin", [0.1, 0.536])
def test_what_is_switched_on_is_no_blow_up(begin, power):
    """A flux from a moment on: u grows like a root of the time since then, in ever longer steps."""
    times = np.concatenate([[0.0, 0.5 * begin, begin], begin + np.geomspace(1e-9, 1e-5, 30)])
    size = 0.1 * np.minimum(times / begin, 1) + 3 * (np.maximum(times - begin, 0) / 1e-5) ** power
    marks = [
        StepRecord(a, b, float(s))
        for (a, b), s in zip(itertools.pairwise(times), size[1:], strict=True)
    ]
    assert blow_up_time(marks, FAITHFUL) is None


@pytest.mark.parametrize("power", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("end", [1e-3, 7.0])
def test_blow_ups_of_any_power_are_seen_before_they_happen(power, end):
    times = end * (1 - np.geomspace(1, 1e-6, 80))
    marks = [StepRecord(a, b, float((1 - b / end) ** -power)) for a, b in itertools.pairwise(times)]
    assert blow_up_time(marks, FAITHFUL) == pytest.approx(end, rel=1e-4)
    assert blow_up_time(marks[:4], FAITHFUL) is None
    # What grows is an error if the solution was lost before.
    assert blow_up_time(marks, [0.3] * len(marks)) is None


@pytest.mark.parametrize(("factor", "end"), [(1.0, 1e-3), (0.3, 7.0), (5.0, 0.2)])
def test_runaways_are_told_from_growth_that_goes_on(factor, end):
    """u_t = exp(c u) goes like -log(T - t) / c; a rate that does not fall to zero does not."""
    times = end * (1 - np.geomspace(1, 1e-6, 120))
    sizes = {
        "runaway": 1 - np.log(1 - times / end) / factor,
        "exponential": np.exp(9 * times / end),
        "root": 1 + np.sqrt(times / end),
    }
    told = {}
    for name, size in sizes.items():
        ends = itertools.pairwise(times)
        marks = [StepRecord(a, b, float(s)) for (a, b), s in zip(ends, size[1:], strict=True)]
        told[name] = runaway_time(marks, [1e-6] * len(marks))
        assert runaway_time(marks, [0.3] * len(marks)) is None
    assert told["runaway"] == pytest.approx(end, rel=1e-3)
    assert told["exponential"] is None and told["root"] is None


@pytest.mark.parametrize(("heat", "loss"), [(1.0, 0.0), (8.0, 1.0), (4.0, 1.0)])
def test_a_thermal_runaway_is_called_a_blow_up(heat, loss):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - loss * u.dxx - heat * np.exp(u),
        initial=lambda x: 0 * x,
        time=(0, 2),
        **({"boundary": lambda u, x, t: u} if loss else {}),
    )
    found = sf.solve(problem, tol=1e-3)
    assert found.outcome.kind == "blow-up"
    told = float(found.outcome.detail.split("towards t = ")[1].split(". ")[0])
    # Without losses at 1 / heat; with them later, and just after what was followed.
    assert told == pytest.approx(found.domain.time[1], rel=1e-2)
    assert abs(told - 1 / heat) < 1e-3 if not loss else told > 1 / heat


@pytest.mark.parametrize(("rate", "place"), [(33.4, 0.3)])
def test_errors_that_blow_up_are_not_called_a_blow_up(rate, place):
    """A front into an unstable state; its start is 1e-3 off the condition, and so has a note."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 1.3e-3 * u.dxx - rate * u * (1 - u),
        time=(0, 1),
        initial=lambda x: 0.9 * np.exp(-(((x - place) / 0.1) ** 2)),
        boundary=lambda u, x, t: u.dn,
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.outcome.kind in ("converged", "errors outgrew tol"), solution.outcome


def fisher(rate, diffusion, span, start, condition):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - diffusion * u.dxx - rate * u * (1 - u),
        boundary=condition,
        initial=start,
        time=(0, span),
    )


def test_a_front_goes_on_for_long_into_an_unstable_state():
    """An exact wave, while errors ahead of it would grow by exp(200)."""
    steep, speed = np.sqrt(200 / 6e-4), 5 * np.sqrt(0.02 / 6)

    def exact(x, t):
        return 1 / (1 + np.exp(np.minimum(steep * (x - 0.2 - speed * t), 340.0))) ** 2

    start, condition = lambda x: exact(x, 0.0), lambda u, x, t: u - exact(x, t)
    solution = sf.solve(fisher(200, 1e-4, 1.0, start, condition), tol=1e-5)
    assert solution.converged
    assert largest_error(solution, exact) < min(1e-5, 3 * solution.error_estimate)


def test_a_weaker_run_far_ahead_of_a_front_does_not_lose_the_front():
    """There it is off by decades, which must not be all that its Newton's method looks at."""
    steep, speed = np.sqrt(200 / 6e-5), 5 * np.sqrt(0.002 / 6)

    def exact(x, t):
        return 1 / (1 + np.exp(np.minimum(steep * (x - 0.2 - speed * t), 340.0))) ** 2

    start, condition = lambda x: exact(x, 0.0), lambda u, x, t: u - exact(x, t)
    solution = sf.solve(fisher(200, 1e-5, 0.3, start, condition), tol=1e-5)
    # A second pair of runs would be far stricter.
    assert solution.converged and solution.error_estimate > 1e-9


@pytest.mark.parametrize("condition", [lambda u, x, t: u, lambda u, x, t: u.dn])
def test_a_small_start_may_contradict_a_condition_by_as_much_as_it_is(condition):
    """Ahead of the front it counts relative to itself; the front comes nowhere near the ends."""
    start = fisher(200, 1e-5, 0.1, lambda x: np.exp(-(((x - 0.5) / 0.1) ** 2)), condition)
    solution = sf.solve(start, tol=1e-3)
    assert solution.converged and solution.domain.time[1] == 0.1


def test_a_start_that_is_zero_ahead_is_resolved():
    """Long elements ahead of it let through what is far larger than what counts there."""

    def start(x):
        return np.where(np.abs(x - 0.2) < 0.05, np.cos(np.pi * (x - 0.2) / 0.1) ** 4, 0.0)

    stated = fisher(200, 1e-4, 1.0, start, lambda u, x, t: u.dn)
    course = course_of(time_system(stated), 1e-3, DEFAULT)
    first, _ = first_state(course.system, 1e-3)
    state = begun(course.run(1.0), first, first.values, 0.0, 0.0)
    assert not state.unresolved
    assert 150 < state.frame.elements < 800
    x = np.linspace(0, 1, 2001)
    assert np.abs(state.at(x)[:, 0] - start(x)).max() < 1e-6


@pytest.mark.parametrize("place", [0.55])
def test_the_time_from_which_an_estimate_holds_is_a_number(place, tmp_path):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 0.01 * u.dxx,
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: np.where(x < place, 1.0, 0.0),
        time=(0, 0.2),
    )
    found = sf.solve(problem, tol=1e-4)
    since = found.error_estimate_since
    assert found.converged and 0 < since < 0.2
    assert since == sf.load(found.save(tmp_path / "jump")).estimate.since
    # Before it the estimates are larger than the one that is told, after it none is.
    ends = np.array([r.time for r in found.history])
    errors = np.array([r.error_estimate for r in found.history])
    assert errors[ends <= since].max() > found.tol >= found.error_estimate
    assert errors[ends > since].max() == found.error_estimate
    assert f"{since:.3g}" in str(found)
    smooth, _ = growing(0.0, 1.0, 0.1)
    assert sf.solve(smooth, tol=1e-4).error_estimate_since is None


@pytest.mark.parametrize(("begin", "rate", "size"), [(0.35, 29.0, 1e-9), (0.62, 45.0, 1e-7)])
def test_what_grows_late_was_small_and_exact_before(begin, rate, size):
    """Both runs of a pair end their steps where the rate is switched on, and must not agree there.

    Without diffusion across the ends a constant state stays one, and u' = r(t) u (1 - u).
    """

    def exact(t):
        grown = size / (1 - size) * np.exp(rate * np.maximum(t - begin, 0.0))
        return grown / (1 + grown)

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 5e-3 * u.dxx - np.where(t < begin, 0.0, rate) * u * (1 - u),
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: size + 0 * x,
        time=(0, begin + 1.2 * np.log(1 / size) / rate),
    )
    solution = sf.solve(problem, tol=1e-3)
    t = np.linspace(0, solution.domain.time[1], 200)
    error = np.abs(solution(0.4, t) - exact(t)).max()
    assert solution.converged
    assert error < 1e-3
    assert error < 3 * solution.error_estimate


def growing_in_plane(rate, size, diffusion, waves, kind):
    """Return a problem in the plane whose solution grows from a small size, and its solution."""
    net = rate - 2 * diffusion * (waves * np.pi) ** 2

    def start(x, y):
        return size * np.sin(waves * np.pi * x) * np.sin(waves * np.pi * y)

    def exact(x, y, t):
        return start(x, y) * np.exp(net * t)

    def coupled(u, v, x, y, t):
        return (
            u.dt - diffusion * sf.laplacian(u) - rate * v,
            v.dt - diffusion * sf.laplacian(v) - rate * u,
        )

    def alone(u, x, y, t):
        return u.dt - diffusion * sf.laplacian(u) - rate * u

    def wave(u, x, y, t):
        speed = 2 * diffusion * (waves * np.pi) ** 2
        return u.dtt - diffusion * sf.laplacian(u) - (net**2 + speed) * u

    box = sf.Box((0, 1), (0, 1), periodic=("x", "y") if kind == "periodic" else ())
    stated = {
        "alone": (alone, lambda u, x, y, t: u, start),
        "periodic": (alone, None, start),
        "coupled": (coupled, lambda u, v, x, y, t: (u, v), (start, start)),
        "wave": (wave, lambda u, x, y, t: u, (start, lambda x, y: net * start(x, y))),
    }
    equation, boundary, initial = stated[kind]
    conditions = {"boundary": boundary} if boundary else {}
    return sf.Problem(box, equation, initial=initial, time=(0, 1), **conditions), exact


@pytest.mark.parametrize(
    ("rate", "size", "diffusion", "waves", "kind"),
    [
        (14.0, 1e-6, 0.01, 1, "alone"),  # errors were 500 times the estimate
        (40.0, 1e-9, 1.0, 1, "alone"),
        (21.0, 1e-9, 0.01, 2, "periodic"),
        (18.0, 1e-8, 0.01, 1, "coupled"),  # neither equation grows by itself
        (17.0, 1e-8, 0.5, 1, "wave"),
    ],
)
def test_growth_in_the_plane_is_followed_from_small_starts(rate, size, diffusion, waves, kind):
    problem, exact = growing_in_plane(rate, size, diffusion, waves, kind)
    found = sf.solve(problem, tol=1e-3)
    x, y, t = np.random.default_rng(0).random((3, 1000))
    errors = np.abs((found.u if kind == "coupled" else found)(x, y, t) - exact(x, y, t))
    error = errors.max() / max(1.0, np.abs(exact(x, y, t)).max())
    assert found.converged
    assert error < min(3 * found.error_estimate, 1e-3)


@pytest.mark.parametrize(("size", "rate", "speed"), [(1e-6, 20.0, 0.7), (1e-10, 40.0, -1.1)])
@pytest.mark.parametrize("diffusion", [0.0, 1e-8])
def test_growth_that_is_carried_along_takes_no_short_elements(size, rate, speed, diffusion):
    def start(x):
        return size * (1.5 + np.sin(2 * np.pi * x))

    problem = sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x, t: u.dt + speed * u.dx - diffusion * u.dxx - rate * u * (1 - u),
        initial=start,
        time=(0, 1),
    )
    found = sf.solve(problem, tol=1e-4)
    x, t = np.linspace(0, 1, 41), np.linspace(0, 1, 21)[:, None]
    exact = 1 / (1 + (1 / start(x - speed * t) - 1) * np.exp(-rate * t))
    assert found.converged and found.kernels < 1000
    assert np.abs(found(x, t) - exact).max() < 1e-4
