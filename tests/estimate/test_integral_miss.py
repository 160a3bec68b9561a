"""An integral that is misread moves a thin layer at the end that is free: the estimate knows."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.even_kernels import even_kernels


def held_by_its_integral(thin, bump, place):
    """Return -eps u'' + u = f with u(0) and the integral of u given, and its solution."""

    def exact(x):
        smooth = 1.4 * np.sin(3.7 * x + 1.2) - 2.0 * np.exp(-x / 1.7e-3)
        return smooth + 1.4 * np.exp(-(((x - place) / bump) ** 2))

    nodes = [np.linspace(0, 1, 400), place + bump * np.linspace(-12, 12, 200)]
    edges = np.unique(np.clip(np.concatenate([*nodes, 1.7e-3 * np.linspace(0, 40, 200)]), 0, 1))
    t, w = np.polynomial.legendre.leggauss(12)
    x = edges[:-1, None] + np.diff(edges)[:, None] * 0.5 * (1 + t)
    total = float(np.diff(edges) @ (exact(x) @ (0.5 * w)))

    def source(x):
        s = (x - place) / bump
        bent = -1.4 * 3.7**2 * np.sin(3.7 * x + 1.2) - 2.0 / 1.7e-3**2 * np.exp(-x / 1.7e-3)
        bent = bent + 1.4 * (4 * s**2 - 2) / bump**2 * np.exp(-(s**2))
        return exact(x) - thin**2 * bent

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -(thin**2) * u.dxx + u - source(x),
        left=lambda u, x: u - exact(x),
        conditions=[sf.integral(lambda u, x: u, equals=total)],
    )
    return problem, exact


@pytest.mark.parametrize("points", [None, 0.7, 1.0], ids=["as it is", "coarse", "less coarse"])
@pytest.mark.parametrize(
    ("thin", "bump", "place"), [(1.5e-4, 1.5e-4, 0.45), (1e-4, 1e-3, 0.62), (5e-4, 2e-4, 0.3)]
)
def test_the_free_end_is_as_right_as_is_said(thin, bump, place, points, monkeypatch):
    """Also if the rule of the rows is too coarse: the check has one of its own."""

    def coarse(kernels):
        t, w = np.polynomial.legendre.leggauss(int(points * kernels))
        s = 0.5 * (1 + t)
        return s, 0.5 * w, even_kernels(kernels).table(s, 2)

    if points:
        monkeypatch.setattr("sharpfront.rows.line_rows.quadrature", coarse)
    problem, exact = held_by_its_integral(thin, bump, place)
    solution = sf.solve(problem, tol=1e-7)
    x = np.concatenate([np.linspace(0, 1, 801), 1 - thin * np.geomspace(1e-3, 30, 200)])
    error = np.abs(solution(x) - exact(x)).max() / np.abs(exact(x)).max()
    assert error < 3 * solution.error_estimate + 1e-11
    assert solution.converged or points
