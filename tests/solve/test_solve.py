"""The loop, with the paper's adaptors."""

import os
import subprocess
import sys

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import OutcomeKind, ProblemError


def smooth_problem():
    """-u'' + u = (1 + pi^2) sin(pi x), exact sin(pi x)."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -u.dxx + u - (1 + np.pi**2) * np.sin(np.pi * x),
        boundary=lambda u, x: u,
    )


def smooth_solution(**options):
    adaptor = sf.Uniform(kernels=40, overlap=6, collocation=200, penalty=1e3)
    return sf.solve(smooth_problem(), adaptor=adaptor, **options)


def test_a_smooth_problem_is_solved_and_says_so():
    solution = smooth_solution(tol=1e-3)
    x = np.linspace(0, 1, 777)
    error = np.max(np.abs(solution(x) - np.sin(np.pi * x)))
    assert error < 1e-6
    assert solution.converged
    assert solution.outcome.kind == "converged"
    assert error <= solution.error_estimate <= 1e-3


def test_not_converged_when_the_estimate_is_above_the_tolerance():
    solution = smooth_solution(tol=1e-14)
    assert not solution.converged
    assert solution.error_estimate > 1e-14
    assert "Leave adaptor= out" in str(solution.outcome)


@pytest.mark.parametrize("fit", ["samples", "weighted"])
def test_the_paper_never_claims_an_unresolved_layer(fit):
    nu = 1e-4
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    solution = sf.solve(problem, adaptor=sf.Paper(kernels=150, fit=fit, collocation=500), tol=1e-2)
    points = 1 - np.geomspace(1e-7, 1, 500)
    error = np.max(np.abs(solution(points) - np.exp((points - 1) / nu)))
    assert error > 0.1
    assert not solution.converged
    assert solution.error_estimate > 0.1


def test_history_has_one_record_per_solve_and_mixtures_after_the_first():
    seen = []
    problem = smooth_problem()
    adaptor = sf.Paper(kernels=30, components=3, iterations=2, collocation=100)
    solution = sf.solve(problem, adaptor=adaptor, tol=1e-15, on_step=seen.append)
    assert len(solution.history) == 3 == len(seen)
    assert solution.history[0].mixture is None
    assert all(r.mixture.components == 3 for r in solution.history[1:])
    assert [r.iteration for r in solution.history] == [0, 1, 2]
    assert all(r.kernels == 30 and r.seconds > 0 for r in solution.history)
    assert solution.outcome.kind is OutcomeKind.ITERATION_LIMIT


def test_diagnostics_name_condition_rank_and_dead_columns():
    solution = smooth_solution()
    facts = solution.diagnostics
    assert facts["columns"] == 40 == solution.kernels
    assert 1 <= facts["rank"] <= 40
    assert facts["condition"] > 1
    assert facts["dead_columns"] == 0
    assert facts["condition_mismatch"] < 1e-6


def test_two_dimensions():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) + 2 * np.pi**2 * np.sin(np.pi * x) * np.sin(np.pi * y),
        boundary=lambda u, x, y: u,
    )
    adaptor = sf.Uniform(kernels=150, overlap=4, collocation=900, penalty=1e3)
    solution = sf.solve(problem, adaptor=adaptor)
    x, y = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 23))
    error = solution(x, y) - np.sin(np.pi * x) * np.sin(np.pi * y)
    assert error.shape == (23, 21)
    assert np.max(np.abs(error)) < 1e-3


def test_a_system_is_solved_by_name():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (u.dx - v, v.dx + u),
        left=lambda u, v, x: (u, v - 1),
    )
    adaptor = sf.Uniform(kernels=30, overlap=6, collocation=150, penalty=1e3)
    solution = sf.solve(problem, adaptor=adaptor)
    x = np.linspace(0, 1, 50)
    assert np.max(np.abs(solution.u(x) - np.sin(x))) < 1e-6
    assert np.max(np.abs(solution.v.d("x")(x) + np.sin(x))) < 1e-3
    with pytest.raises(ProblemError, match=r"solution\.u, solution\.v"):
        solution(x)


def test_same_seed_same_bits_in_one_process():
    first, second = (
        sf.solve(smooth_problem(), adaptor=sf.Paper(kernels=30, components=3), seed=7)
        for _ in range(2)
    )
    x = np.linspace(0, 1, 101)
    assert np.array_equal(first(x), second(x))
    other = sf.solve(smooth_problem(), adaptor=sf.Paper(kernels=30, components=3), seed=8)
    assert not np.array_equal(first(x), other(x))


_SCRIPT = """
import numpy as np, sharpfront as sf
p = sf.Problem(sf.Interval(0, 1), lambda u, x: -0.01 * u.dxx + u.dx,
               left=lambda u, x: u, right=lambda u, x: u - 1)
for fit in ("samples", "weighted"):
    s = sf.solve(p, adaptor=sf.Paper(kernels=40, components=4, collocation=100, fit=fit))
    print(s(np.linspace(0, 1, 64)).tobytes().hex())
"""


def test_same_seed_same_bits_across_processes(capsys):
    there = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "1"},
    ).stdout
    exec(compile(_SCRIPT, "script", "exec"), {})
    assert capsys.readouterr().out == there
    assert len(there) > 2000


def test_adaptors_for_linear_problems_refuse_nonlinear_ones_with_advice():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u * u.dx - 0.1 * u.dxx, boundary=lambda u, x: u
    )
    with pytest.raises(ProblemError, match="linear problems only"):
        sf.solve(problem, adaptor=sf.Uniform())


@pytest.mark.parametrize("tol", [0, -1, 1, float("nan")])
def test_a_tolerance_without_sense_is_refused(tol):
    with pytest.raises(ProblemError, match="tol: expected a number between 0 and 1"):
        sf.solve(smooth_problem(), tol=tol)


def test_something_else_than_a_problem_is_refused():
    with pytest.raises(ProblemError, match="expects a Problem, got str"):
        sf.solve("u_x = 0")
