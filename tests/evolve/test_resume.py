"""Runs that are interrupted, stopped and resumed: the same bits as in one go."""

import pickle
from functools import lru_cache

import numpy as np
import pytest
from tests.evolve.line_runs import heat, pulse, same, shock, stopping, waves

import sharpfront as sf
from sharpfront.catalog import BURGERS
from sharpfront.errors import DomainError, ProblemError
from sharpfront.history import TimeStep

RUNS = {"shock": shock, "circle": pulse, "second order": waves}
TOL = 1e-4


@lru_cache
def whole(name):
    return sf.solve(RUNS[name](), tol=TOL)


@lru_cache
def interrupted():
    return sf.solve(heat(), tol=TOL, on_step=stopping(2))


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("when", [0, 2, -1])
def test_resumed_from_a_file_to_the_same_bits(name, when, tmp_path):
    once = whole(name)
    steps = len(once.history)
    assert once.converged and steps > 4
    cut = sf.solve(RUNS[name](), tol=TOL, on_step=stopping(when % steps))
    assert cut.outcome.kind == "interrupted"
    loaded = sf.load(cut.save(tmp_path / "cut"))
    again = sf.solve(RUNS[name](), tol=TOL, resume=loaded)
    assert again.outcome == once.outcome
    assert same(again, once)
    assert again.error_estimate == once.error_estimate
    assert [r.time for r in again.history] == [r.time for r in once.history]
    assert [r.step for r in again.history] == list(range(steps))
    both = zip(again.history, once.history, strict=True)
    assert all(np.array_equal(a.speeds, b.speeds) for a, b in both)
    assert again.domain.time == once.domain.time
    # What is not part of the solution is kept for the next time.
    for rate, values in once.checkpoint["rates"].items():
        assert np.array_equal(again.checkpoint["rates"][rate], values)


def on_patches(end=0.3):
    """Return two unknowns that turn into each other and fade."""
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y, t: [
            u.dt - 0.1 * sf.laplacian(u) + v,
            v.dt - 0.1 * sf.laplacian(v) - u,
        ],
        boundary=lambda u, v, x, y, t: [u, v],
        initial={"u": lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y), "v": 0.0},
        time=(0, end),
    )


def test_runs_on_patches_that_a_boundary_cuts_are_resumed_from_a_file(tmp_path):
    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y, t: u.dt - 0.1 * sf.laplacian(u),
        boundary=lambda u, x, y, t: u.dn,
        initial=lambda x, y: np.exp(-12 * ((x - 0.1) ** 2 + y**2)),
        time=(0, 0.1),
    )
    cut = sf.solve(problem, tol=1e-2, on_step=stopping(1))
    assert len(cut.history) == 2
    again = sf.solve(problem, tol=1e-2, resume=sf.load(cut.save(tmp_path / "cut")))
    whole = sf.solve(problem, tol=1e-2)
    x, y = np.random.default_rng(0).uniform(-0.7, 0.7, (2, 50))
    assert again.converged and again.history[-1].time == 0.1
    np.testing.assert_allclose(again(x, y, 0.1), whole(x, y, 0.1), atol=1e-5)


def test_runs_on_patches_are_resumed_from_a_file(tmp_path):
    problem = on_patches()
    once = sf.solve(problem, tol=1e-3)
    cut = sf.solve(problem, tol=1e-3, on_step=stopping(0))
    assert cut.outcome.kind == "interrupted" and len(cut.history) < len(once.history)
    again = sf.solve(problem, tol=1e-3, resume=sf.load(cut.save(tmp_path / "cut")))
    assert again.converged and again.domain.time == once.domain.time
    assert len(again.history) == len(once.history)
    x, y = np.random.default_rng(0).uniform(0.1, 0.6, (2, 50))
    for t in (0.5 * cut.domain.time[1], problem.time[1]):
        assert np.abs(again.v(x, y, t) - once.v(x, y, t)).max() < 1e-7


def test_a_finished_run_on_patches_goes_on_to_a_later_end():
    longer = sf.solve(on_patches(0.5), tol=1e-3, resume=sf.solve(on_patches(), tol=1e-3))
    x, y = np.random.default_rng(0).uniform(0, 1, (2, 50))
    exact = np.exp(-0.1 * np.pi**2) * np.sin(0.5) * np.sin(np.pi * x) * np.sin(np.pi * y)
    assert longer.converged and longer.domain.time == (0.0, 0.5)
    assert np.abs(longer.v(x, y, 0.5) - exact).max() < longer.error_estimate
    with pytest.raises(ProblemError, match="beyond the end of time"):
        sf.solve(on_patches(), tol=1e-3, resume=longer)


def test_interrupted_again_and_again():
    once = whole("shock")
    found = sf.solve(shock(), tol=TOL, on_step=stopping(1))
    for step in (2, 4):
        found = sf.solve(shock(), tol=TOL, on_step=stopping(step), resume=found)
        assert found.outcome.kind == "interrupted" and len(found.history) == step + 1
    assert same(sf.solve(shock(), tol=TOL, resume=found), once)


def test_interrupted_tells_how_far_it_got():
    cut = interrupted()
    reached = cut.history[-1].time
    assert len(cut.history) == 3 and isinstance(cut.history[0], TimeStep)
    assert f"t = {reached:.6g} of 1" in cut.outcome.detail
    assert "resume=" in str(cut.outcome) and not cut.converged
    assert cut.domain.time == (0.0, reached)
    x = np.linspace(0, 1, 9)
    exact = np.exp(-0.1 * np.pi**2 * reached) * np.sin(np.pi * x)
    assert np.allclose(cut(x, reached), exact, atol=TOL)
    with pytest.raises(DomainError, match="outside the domain"):
        cut(0.5, reached + 1e-3)


def test_resume_goes_on_from_where_it_was():
    steps = []
    sf.solve(heat(), tol=TOL, resume=interrupted(), on_step=lambda r: steps.append(r.step))
    assert steps[0] == 3


def test_resume_of_a_finished_run_is_that_run():
    once = whole("shock")
    again = sf.solve(shock(), tol=TOL, resume=once)
    assert same(again, once) and again.converged


def test_a_finished_run_goes_on_to_a_later_end():
    longer = sf.solve(heat(end=2.0), tol=TOL, resume=sf.solve(heat(), tol=TOL))
    assert longer.converged and longer.domain.time == (0.0, 2.0)
    assert abs(longer(0.5, 2.0) - np.exp(-0.2 * np.pi**2)) < TOL
    assert abs(longer(0.5, 0.5) - np.exp(-0.05 * np.pi**2)) < TOL


def test_two_runs_have_the_same_bits():
    for name in ("shock", "second order"):
        again = sf.solve(RUNS[name](), tol=TOL)
        assert same(again, whole(name))
        assert again.error_estimate == whole(name).error_estimate


def test_a_run_leaves_no_trace_in_the_next():
    """Rounds of other sizes in between change no bit: what is cached depends on nothing else."""
    sf.solve(pulse(), tol=1e-5)
    assert same(sf.solve(pulse(), tol=TOL), whole("circle"))


@pytest.mark.parametrize("name", ["unknowns", "steady"])
def test_solutions_of_something_else_are_refused(name):
    other = whole("second order")
    if name == "steady":
        still = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx, boundary=lambda u, x: u)
        other = sf.solve(still)
    with pytest.raises(ProblemError, match="resume= takes a solution of the same problem"):
        sf.solve(heat(), tol=TOL, resume=other)


@pytest.mark.parametrize(
    "other",
    [
        lambda: heat(length=2.0),
        lambda: heat(diffusivity=0.5),
        lambda: heat(start=-1.0),
        lambda: sf.Problem(
            sf.Interval(0, 1, periodic=True),
            lambda u, x, t: u.dt - u.dxx,
            initial=1.0,
            time=(0, 1),
        ),
        lambda: sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dtt - u.dxx,
            boundary=lambda u, x, t: u,
            initial=(0.0, 0.0),
            time=(0, 1),
        ),
    ],
    ids=["domain", "equation", "start", "circle", "second order"],
)
def test_solutions_of_another_problem_with_the_same_unknown_are_refused(other):
    with pytest.raises(ProblemError):
        sf.solve(other(), tol=TOL, resume=interrupted())


def test_too_few_kernels_end_a_run_early():
    found = sf.solve(BURGERS.problem(1e-3), tol=1e-6, max_kernels=120)
    assert found.outcome.kind == "kernel limit reached" and not found.converged
    assert max(r.kernels for r in found.history) <= 120
    reached = found.domain.time[1]
    assert 0 < reached == found.history[-1].time < 1
    assert f"t = {reached:.6g} of 1" in found.outcome.detail
    x = np.linspace(-1, 1, 21)
    error = np.abs(found(x, reached) - BURGERS.exact(1e-3)(x, reached)).max()
    assert error < 2 * found.error_estimate
    with pytest.raises(DomainError):
        found(0.3, reached * 1.01)


def test_the_limit_of_kernels_is_kept_from_the_start():
    found = sf.solve(heat(), tol=1e-9, max_kernels=100)
    assert max(r.kernels for r in found.history) <= 100


def test_a_run_without_a_step_holds_at_its_start_only():
    found = sf.solve(shock(nu=1e-4), tol=1e-8, max_kernels=100)
    assert found.history == () and found.outcome.kind == "kernel limit reached"
    assert abs(found(0.1, 0.0) - 1.0) < 1e-6
    with pytest.raises(DomainError):
        found(0.1, 1e-3)


def test_errors_of_the_user_pass_through():
    def broken(record):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        sf.solve(heat(), tol=TOL, on_step=broken)


@pytest.mark.parametrize("rate", ["u_t", "u_tt"])
def test_a_solution_that_travelled_is_resumed(rate):
    problem = sf.Problem(
        sf.Interval(0, 1),
        f"{rate} - 0.1*u_xx + u**3 = 0",
        boundary="u = 0",
        initial="sin(pi*x)" if rate == "u_t" else {"u": "sin(pi*x)", "u_t": "0"},
        time=(0, 1),
    )
    cut = sf.solve(problem, tol=TOL, on_step=stopping(2))
    there = pickle.loads(pickle.dumps(cut))
    assert set(there.checkpoint) == set(cut.checkpoint)
    assert same(sf.solve(problem, tol=TOL, resume=there), sf.solve(problem, tol=TOL))
