"""Problems in time in the plane on patches: systems, second order in time, periodic sides."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from scipy.special import j0, j1, jn_zeros

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import interpolation
from sharpfront.errors import DomainError, OutcomeKind, ProblemError
from sharpfront.evolve.march import steps
from sharpfront.evolve.patchwork import evolve_patches
from sharpfront.evolve.patchwork.cells import Meshing
from sharpfront.evolve.patchwork.embedded_run import WeakerPatches
from sharpfront.evolve.patchwork.jumping_values import JumpingValues
from sharpfront.evolve.patchwork.patch_steps import PatchSteps
from sharpfront.evolve.patchwork.predictor import at_rest
from sharpfront.evolve.patchwork.remeshing import carried_over
from sharpfront.evolve.patchwork.row_points import MovingFrame
from sharpfront.evolve.patchwork.run import PatchRun
from sharpfront.evolve.patchwork.run_start import begun_on_patches
from sharpfront.evolve.patchwork.wellposed import plane_system
from sharpfront.evolve.time_events import plane_formulas, time_events_of
from sharpfront.maps import AxisMap
from sharpfront.place.patches.refine import Limits, functions_of
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))
X, Y = (part.ravel() for part in np.meshgrid(np.linspace(0, 1, 15), np.linspace(0, 1, 15)))

POINTS = np.stack([X, Y], axis=1)


def largest(field, exact, moments):
    return max(np.abs(field(X, Y, t) - exact(X, Y, t)).max() for t in moments)


@pytest.mark.parametrize(("speed", "m", "n", "tol"), [(1.3, 1, 2, 1e-3), (1.0, 3, 4, 1e-5)])
def test_a_standing_wave(speed, m, n, tol):
    def exact(x, y, t):
        beat = np.cos(np.pi * speed * np.hypot(m, n) * t)
        return beat * np.sin(m * np.pi * x) * np.cos(n * np.pi * y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dtt - speed**2 * sf.laplacian(u),
        left=lambda u, x, y, t: u,
        right=lambda u, x, y, t: u,
        bottom=lambda u, x, y, t: u.dn,
        top=lambda u, x, y, t: u.dn,
        initial=(lambda x, y: exact(x, y, 0.0), 0.0),
        time=(0, 0.2),
    )
    solution = sf.solve(problem, tol=tol)
    assert solution.converged and solution.kernels < 500
    assert largest(solution, exact, (0.04, 0.11, 0.2)) <= min(tol, 2 * solution.error_estimate)


def _u(x, y, t):
    return np.exp(-t) * np.sin(2 * x + y)


def _v(x, y, t):
    return np.cos(t + x) * np.exp(0.5 * y)


@functools.cache
def coupled():
    def equations(u, v, x, y, t):
        first = 4 * _u(x, y, t) + _v(x, y, t) * _u(x, y, t)
        second = 0.75 * _v(x, y, t) - np.sin(t + x) * np.exp(0.5 * y)
        return u.dt - sf.laplacian(u) + u * v - first, v.dt - sf.laplacian(v) - second

    problem = sf.Problem(
        SQUARE,
        equations,
        boundary=lambda u, v, x, y, t: (u - _u(x, y, t), v - _v(x, y, t)),
        initial={"u": lambda x, y: _u(x, y, 0.0), "v": lambda x, y: _v(x, y, 0.0)},
        time=(0, 0.4),
    )
    return sf.solve(problem, tol=1e-3)


def test_two_equations_with_data_that_depend_on_time():
    solution = coupled()
    assert solution.converged
    error = max(
        largest(solution.u, _u, (0.07, 0.31, 0.4)), largest(solution.v, _v, (0.07, 0.31, 0.4))
    )
    assert error <= min(1e-3, 2 * solution.error_estimate)


def test_such_a_solution_is_saved_and_read(tmp_path):
    solution = coupled()
    solution.save(tmp_path / "coupled.npz")
    again = sf.load(tmp_path / "coupled.npz")
    np.testing.assert_array_equal(again.v(X, Y, 0.3), solution.v(X, Y, 0.3))
    np.testing.assert_allclose(solution.u.d("t")(X, Y, 0.3), -_u(X, Y, 0.3), atol=1e-2)
    slope = 2 * np.exp(-0.2) * np.cos(1.0)
    np.testing.assert_allclose(solution.u.d("x")(0.3, 0.4, 0.2), slope, atol=1e-2)


def test_what_is_carried_round_comes_back():
    def exact(x, y, t):
        return np.exp(-0.08 * np.pi**2 * t) * np.sin(2 * np.pi * (x - 2 * t)) + 0 * y

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y, t: u.dt + 2 * u.dx + u.dy - 0.02 * sf.laplacian(u),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.1),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    assert largest(solution, exact, (0.03, 0.1)) <= min(1e-3, 2 * solution.error_estimate)


@pytest.mark.parametrize("at", [0.0718])
def test_a_source_of_a_system_that_is_switched(at):
    problem = sf.Problem(
        SQUARE,
        lambda u, v, x, y, t: (
            u.dt - sf.laplacian(u) - np.where(t < at, 0.0, 1.0),
            v.dt - sf.laplacian(v) - u.dt,
        ),
        boundary=lambda u, v, x, y, t: (u.dn, v.dn),
        initial=(0.0, 0.0),
        time=(0, 0.2),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    np.testing.assert_allclose(solution.v(0.3, 0.7, 0.2), 0.2 - at, atol=1e-5)


def assert_refused(match, kind=ProblemError, **changes):
    stated = {
        "domain": SQUARE,
        "equation": lambda u, v, x, y, t: (u.dt - sf.laplacian(u), v.dt - sf.laplacian(v) - u),
        "boundary": lambda u, v, x, y, t: (u, v),
        "initial": (0.0, 0.0),
        "time": (0, 1),
    } | changes
    with pytest.raises(kind, match=match):
        sf.solve(sf.Problem(stated.pop("domain"), stated.pop("equation"), **stated), tol=1e-3)


def test_what_is_not_solved_is_refused():
    assert_refused("condition", boundary=lambda u, v, x, y, t: (u, v, u.dn))
    assert_refused("condition", boundary=lambda u, v, x, y, t: u)
    assert_refused(
        "backwards",
        equation=lambda u, v, x, y, t: (u.dt + sf.laplacian(u), v.dt - sf.laplacian(v)),
    )
    assert_refused("point", conditions=sf.at((0.5, 0.5), lambda u, v, x, y, t: u))
    assert_refused("integral", conditions=sf.integral(lambda u, v, x, y, t: u, equals=1))
    assert_refused("no time derivative", boundary=lambda u, v, x, y, t: (u.dt + u, v))
    assert_refused(
        "odd order", equation=lambda u, v, x, y, t: (u.dt + u.dx, v.dt - sf.laplacian(v))
    )


def test_a_part_that_lies_on_no_patch_is_refused(monkeypatch):
    of = Meshing.first

    def without_the_arm(meshing):
        return sorted(of(meshing), key=lambda cell: cell.patch.low[1])[1:]

    monkeypatch.setattr(Meshing, "first", without_the_arm)
    keyhole = sf.Disk((0, 0), 0.5) | sf.Box((-0.1, 0.1), (-1, 0))
    assert_refused("nothing covers", DomainError, domain=keyhole)


def test_a_pressure_that_nothing_holds_is_refused():
    assert_refused(
        "up to a constant",
        domain=sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        equation=lambda u, v, p, x, y, t: (
            u.dt + p.dx - sf.laplacian(u),
            v.dt + p.dy - sf.laplacian(v),
            u.dx + v.dy,
        ),
        boundary=None,
    )


def _run(problem, tol, functions):
    none, tiling = np.zeros(0), tiling_of(problem.domain)
    watched = problem.domain.sample(64)
    meshing = Meshing(tiling, (none, none), Limits(functions, functions + 6, 4), 10_000, watched)
    agenda = time_events_of(plane_formulas(problem), problem.time)
    system = plane_system(problem)
    return PatchRun(system, meshing, tol, agenda, JumpingValues(system))


@pytest.mark.parametrize("carried", [True, False], ids=["made anew", "a start"])
def test_a_short_step_is_taken_right_after_patches_were_made(carried):
    """What other patches leave out of the beginning is no error in time.

    That of a start counts, but once: coefficients in time count it four times and more.
    """
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y, t: u.dt + u.dx - 0.1 * sf.laplacian(u),
        initial=lambda x, y: np.exp(np.sin(2 * np.pi * x) + np.cos(2 * np.pi * y)),
        time=(0, 1),
    )
    tol, dt = 1e-3, 1e-6
    run = _run(problem, tol, 7)
    state = begun_on_patches(run)
    if carried:
        state = carried_over(state, state.cells)
    # About as much as patches leave out, in the last function of one of them.
    values = state.values.copy()
    values[0, 0, 48] += tol
    taken = next(steps(PatchSteps(run), dataclasses.replace(state, values=values, dt=dt)))
    assert taken.stop == pytest.approx(dt)


@pytest.mark.slow
def test_a_pulse_spreads_through_a_disk():
    """Noise of velocities took ever more functions, until there were no more at t = 0.095."""
    zeros, (r, weights) = jn_zeros(0, 40), np.polynomial.legendre.leggauss(200)
    r, weights = 0.5 + 0.5 * r, 0.5 * weights
    shares = (j0(zeros[:, None] * r) * np.exp(-((r / 0.2) ** 2)) * r * weights).sum(axis=1)
    shares /= 0.5 * j1(zeros) ** 2

    def exact(x, y, t):
        waves = j0(zeros * np.hypot(x, y)[:, None]) * np.cos(zeros * t)
        return (shares * waves).sum(axis=1)

    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y, t: u.dtt - sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial={"u": lambda x, y: np.exp(-(x**2 + y**2) / 0.04), "u_t": 0.0},
        time=(0, 0.4),
    )
    solution = sf.solve(problem, tol=1e-2)
    assert solution.converged
    inside = np.hypot(X, Y) < 1
    x, y = X[inside], Y[inside]
    error = max(np.abs(solution(x, y, t) - exact(x, y, t)).max() for t in (0.05, 0.2, 0.4))
    assert error <= min(1e-2, 2 * solution.error_estimate)


def test_too_few_functions_are_said():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y, t: u.dt - 1e-3 * sf.laplacian(u),
        initial=lambda x, y: np.exp(-((x - 0.4) ** 2 + (y - 0.6) ** 2) / 1e-4),
        time=(0, 0.1),
    )
    solution = sf.solve(problem, tol=1e-4, max_kernels=600)
    assert solution.outcome.kind is OutcomeKind.KERNEL_LIMIT
    assert not solution.converged


def _travelling(x, y, t, width=0.12, spread=1e-3):
    """A pulse that goes round a periodic box and spreads."""
    square = width**2 + 4 * spread * t
    apart = (x - 2 * t - 0.4 + 0.5) % 1 - 0.5
    return width / np.sqrt(square) * np.exp(-(apart**2) / square) + 0 * y


def _carried_pulse(end):
    return sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y, t: u.dt + 2 * u.dx - 1e-3 * sf.laplacian(u),
        initial=lambda x, y: _travelling(x, y, 0.0),
        time=(0, end),
    )


def _seen(step, t):
    """The first unknown at a moment of a step."""
    shares = interpolation(np.array([(t - step.start) / (step.stop - step.start)]))[0]
    _, basis, values, drift = step.kept
    weights = np.tensordot(shares, values, axes=1)
    return basis.sums(weights, at_rest(MovingFrame(drift, step.start), POINTS, t))[0]


def test_patches_go_along_with_a_pulse():
    tol = 1e-3
    run = _run(_carried_pulse(1.0), tol, 8)
    state = begun_on_patches(run)
    # With patches that stay a step goes on by a part of the width.
    assert 2 * state.dt > 0.12
    first, second = itertools.islice(steps(PatchSteps(run), state), 2)
    for step in (first, second):
        np.testing.assert_allclose(step.kept[3].velocity(POINTS)[:, 0].mean(), 2.0, rtol=0.02)
        middle = 0.5 * (step.start + step.stop)
        for t in (middle, step.stop):
            np.testing.assert_allclose(_seen(step, t), _travelling(X, Y, t), atol=tol)


def test_what_patches_carried_along_is_saved_and_differentiated(tmp_path):
    solution = sf.solve(_carried_pulse(0.1), tol=1e-2)
    basis = solution.approximation.bases["u"]
    assert any(frame is not None for frame in basis.frames)
    assert solution.converged
    assert largest(solution, _travelling, (0.03, 0.1)) <= min(1e-2, 2 * solution.error_estimate)
    again = sf.load(solution.save(tmp_path / "carried"))
    np.testing.assert_array_equal(again(X, Y, 0.07), solution(X, Y, 0.07))
    h = 1e-5
    rates = (_travelling(X, Y, 0.07 + h) - _travelling(X, Y, 0.07 - h)) / (2 * h)
    np.testing.assert_allclose(solution.d("t")(X, Y, 0.07), rates, atol=0.02 * np.abs(rates).max())
    # Where functions are drawn they have gone along.
    before, after = (basis.places_at(t)[0] for t in (basis.times[-2] + 1e-9, basis.times[-1]))
    assert np.abs(after - before).max() > 0.01


def test_patches_stay_where_nothing_is_carried():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
        time=(0, 0.1),
    )
    assert begun_on_patches(_run(problem, 1e-3, 8)).drift is None


def test_steps_longer_than_what_is_carried_go_on_by_rates(monkeypatch):
    """Places that a velocity takes past one another come from several or from none.

    Up to 35 000 functions were looked at in search of what that makes of 49.
    """

    def exact(x, y, t):
        one = 0.5 * np.exp(-t) * np.cos(3 * x - 2 * y + 1 + 2.5 * t)
        return one + 0.8 * np.exp(-0.3 * t) * np.cos(-2 * x - 3.5 * y + 4 - 2 * t)

    def operator(u):
        return u.dt + 0.7 * u.dx - 0.4 * u.dy - 4e-3 * sf.laplacian(u)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y, t: operator(u - exact(x, y, t)),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 1),
    )
    tried, finer = [], Meshing.finer

    def counted(meshing, cells, tails):
        tried.append(functions_of(cells))
        return finer(meshing, cells, tails)

    monkeypatch.setattr(Meshing, "finer", counted)
    solution = evolve_patches(problem, 1e-2)
    assert solution.converged
    assert max(tried) < 4 * solution.kernels


def test_the_weaker_run_has_what_tells_it_apart():
    """Of an even state the last function is nothing: two are left out then."""
    patch = Patch((AxisMap(-1, 1), AxisMap(-1, 1)), (7, 8))
    basis = PatchworkBasis((patch,))
    weights = np.ones((1, 56))
    assert WeakerPatches.of(basis, weights).less.tolist() == [[1, 1]]
    even = weights.reshape(7, 8).copy()
    even[:, 1::2] = 0.0
    weak = WeakerPatches.of(basis, even.reshape(1, -1))
    assert weak.less.tolist() == [[1, 2]]
    assert weak.basis.patches[0].functions == (6, 6)
    kept = weak.without_last(even.reshape(1, -1))
    np.testing.assert_array_equal(weak.with_last(kept).reshape(7, 8)[:6, :6], even[:6, :6])
    assert not weak.with_last(kept).reshape(7, 8)[6:].any()


def test_an_even_solution_has_an_estimate_of_its_own():
    def exact(x, y, t):
        return np.exp(-0.2 * np.pi**2 * t) * np.cos(np.pi * x) * np.cos(np.pi * y)

    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u.dn,
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, 0.5),
    )
    solution = evolve_patches(problem, 1e-3)
    assert solution.converged
    assert largest(solution, exact, (0.2, 0.5)) < solution.error_estimate


def test_an_unknown_without_a_rate_begins_with_what_the_stages_tell():
    def exact(x, y, t):
        return np.exp(-2 * t) * np.cos(x) * np.cos(y)

    problem = sf.Problem(
        SQUARE,
        lambda u, p, x, y, t: (u.dt - sf.laplacian(u), p - 2 * u - 3),
        boundary=lambda u, p, x, y, t: u - exact(x, y, t),
        initial={"u": lambda x, y: exact(x, y, 0.0)},
        time=(0, 0.2),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    error = largest(solution.p, lambda x, y, t: 3 + 2 * exact(x, y, t), (0.05, 0.2))
    assert error < solution.error_estimate


@pytest.mark.parametrize("diffusion", [0.0, 1e-3])
def test_what_patches_miss_of_a_tip_stays_in_estimates_where_nothing_spreads_it(diffusion):
    """Both runs miss it alike: what they differ by does not tell it."""
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, x, y, t: u.dt + u.dx - diffusion * sf.laplacian(u),
        initial=lambda x, y: np.exp(-8 * np.hypot(np.sin(np.pi * x), np.sin(np.pi * (y - 0.55)))),
        time=(0, 0.02),
    )
    run = _run(problem, 0.05, 8)
    state = begun_on_patches(run)
    missed = np.abs(state.basis.sums(state.values[0], run.meshing.watched) - _tip(run)).max()
    assert missed > 1e-5
    assert state.lost == (0.0 if diffusion else pytest.approx(missed))
    if not diffusion:
        plain = dataclasses.replace(state, lost=0.0)
        errors = [next(steps(PatchSteps(run), own)).error for own in (state, plain)]
        assert errors[0] - errors[1] == pytest.approx(missed)


def _tip(run):
    return run.system.initial(run.meshing.watched)[0]
