"""Systems of first order: what leaves through an end obeys equations there, whatever comes back."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.evolve.characteristics import characteristics
from sharpfront.evolve.time_system import time_system

X, T = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 2, 41))


def rise(t):
    return np.where(t > 0, np.sin(2 * np.maximum(t, 0)) ** 4, 0.0)


def lines(share, turned=False):
    """Two signals that go apart, of which a share comes back; stated by themselves or mixed."""
    left, right = lambda t: np.sin(2 * t) ** 4, share

    if not turned:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda a, b, x, t: (a.dt + a.dx, b.dt - b.dx),
            left=lambda a, b, x, t: a - left(t),
            right=lambda a, b, x, t: b - right * a,
            initial=(0, 0),
            time=(0, 2),
        )
    return sf.Problem(  # a = p + v, b = p - v
        sf.Interval(0, 1),
        lambda p, v, x, t: (p.dt + v.dx, v.dt + p.dx),
        left=lambda p, v, x, t: p + v - left(t),
        right=lambda p, v, x, t: p - v - right * (p + v),
        initial=(0, 0),
        time=(0, 2),
    )


@pytest.mark.parametrize("share", [0.5, 1.0, 0.0])
@pytest.mark.parametrize("turned", [False, True])
def test_signals_come_back(share, turned):
    solution = sf.solve(lines(share, turned), tol=1e-5)
    assert solution.converged
    go, come = rise(T - X), share * rise(T + X - 2)
    if turned:
        p, v = (solution.p(X, T), solution.v(X, T))
        found = p + v, p - v
    else:
        found = solution.a(X, T), solution.b(X, T)
    assert max(np.abs(f - e).max() for f, e in zip(found, (go, come), strict=True)) < 2e-5


def test_shares_of_equations_go_with_their_speed():
    found = characteristics(time_system(lines(0.5, turned=True)), 0.0, 0.0)
    assert np.allclose(np.sort(found.speeds), [-1, 1])
    for side, sense in ((0, -1), (1, 1)):
        (row,) = found.leaving(side)
        assert np.isclose(row[1] / row[0], sense)
