"""Patches on a line: estimates of beams, and how many functions they begin with."""

import numpy as np
import pytest

import sharpfront as sf


@pytest.mark.parametrize(("eps", "low", "high"), [(1.6e-3, 0.811, 0.872), (5e-3, 0.3, 0.36)])
@pytest.mark.parametrize("tol", [1e-5, 1e-7, 1e-8])
def test_beams_on_a_bed_with_a_short_load(eps, low, high, tol):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: eps * u.dxxxx + u - np.where((x > low) & (x < high), -16.5, 0.0),
        boundary=lambda u, x: (u, u.dx),
    )
    solution, tight = sf.solve(problem, tol=tol), sf.solve(problem, tol=1e-11)
    x = np.linspace(0, 1, 2001)
    error = np.abs(solution(x) - tight(x)).max()
    assert solution.converged
    assert error <= 2.5 * max(solution.error_estimate, 1e-11)


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_a_beam_and_its_temperature_at_any_tolerance(tol):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda w, h, x: (1e-5 * w.dxxxx - w.dxx + h.dx - 1, -1e-3 * h.dxx + h + w - x),
        boundary=lambda w, h, x: (w, w.dx, h),
    )
    solution, tight = sf.solve(problem, tol=tol), sf.solve(problem, tol=1e-8)
    x = np.linspace(0, 1, 2001)
    error = max(
        np.abs(a(x) - b(x)).max() for a, b in ((solution.w, tight.w), (solution.h, tight.h))
    )
    assert solution.converged
    assert len(solution.history) < 8
    assert error <= 2 * solution.error_estimate
