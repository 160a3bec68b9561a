"""Layers at an end of the line, in systems: not taken for jumps before patches are thin enough."""

import numpy as np
import pytest

import sharpfront as sf


@pytest.mark.parametrize(
    ("eps", "wind", "rate"),
    [(3.3e-05, 1.67, 1.0), (3.3e-06, 0.38, 1.0), (1e-05, 1.3, 2.0), (3.4e-07, 1.9, 1.0)],
)
def test_a_thin_layer_beside_another_unknown(eps, wind, rate):
    """Of 40 drawn ones nine were right and called unresolved."""
    pair = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (
            -eps * u.dxx + wind * u.dx + rate * u - 1,
            -3e-3 * v.dxx + 0.3 * v.dx + v - x,
        ),
        left=lambda u, v, x: (u - 1, v),
        right=lambda u, v, x: (u, v),
    )
    solution = sf.solve(pair, tol=1e-6)
    assert solution.converged, str(solution.outcome)
    root = np.sqrt(wind**2 + 4 * eps * rate)
    slow, fast = -2 * rate / (wind + root), (wind + root) / (2 * eps)
    ends = np.array([[1.0, 0.0], [np.exp(slow), 1.0]])
    a, b = np.linalg.solve(ends, [1 - 1 / rate, -1 / rate])
    x = np.concatenate([np.linspace(0, 1, 501), 1 - np.geomspace(1e-10, 0.1, 500)])
    exact = 1 / rate + a * np.exp(slow * x) + b * np.exp(fast * (x - 1))
    assert np.abs(solution.u(x) - exact).max() < 1e-6
