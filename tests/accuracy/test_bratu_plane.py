"""Bratu's problem on the square: both branches, against differences that are extrapolated."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import sharpfront as sf


def by_differences(cells, start):
    """Return u in the middle from Newton's method on five-point differences."""
    n = cells - 1
    line = sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)) * cells**2
    matrix = (sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)).tocsc()
    t = np.sin(np.pi * np.arange(1, cells) / cells)
    u = start * np.outer(t, t).ravel()
    for _ in range(30):
        step = spsolve((matrix + sp.diags_array(np.exp(u))).tocsc(), -(matrix @ u + np.exp(u)))
        u = u + step
        if np.abs(step).max() < 1e-12:
            break
    return u.reshape(n, n)[cells // 2 - 1, cells // 2 - 1]


@pytest.mark.parametrize(("start", "bound"), [(0.0, 5e-6), (5.0, 3e-3)], ids=["lower", "upper"])
def test_both_branches(start, bound):
    coarse, fine = by_differences(32, start), by_differences(64, start)
    reference = fine + (fine - coarse) / 3
    assert abs(fine - coarse) < 20 * bound

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) + np.exp(u),
        boundary=lambda u, x, y: u,
    )

    def guess(x, y):
        return start * np.sin(np.pi * x) * np.sin(np.pi * y)

    solution = sf.solve(problem, tol=1e-4, guess=guess)
    assert solution.converged
    assert solution(0.5, 0.5) == pytest.approx(reference, abs=max(bound, 1e-5))
    assert solution.diagnostics["newton_steps"] <= 12
