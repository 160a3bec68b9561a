"""Equations of order two to four with layers at both ends: the estimate is not far below the error.

Residuals swing fast in the last spacings of the kernels, and an error equation on too few cells
there misses what is left of them on the whole.
"""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.measure import max_error

# Orders of the derivatives that are given at the left and the right end.
HELD = {
    2: [((0,), (0,))],
    3: [((0, 1), (0,)), ((0,), (0, 1))],
    4: [((0, 1), (0, 2)), ((0, 2), (0, 1))],
}
X = np.unique(
    np.concatenate([np.linspace(0, 1, 801), *(abs(e - np.geomspace(1e-5, 1, 400)) for e in (0, 1))])
)


def layers(x, widths, sizes, order=0):
    """Return a derivative of a layer at each end."""
    (a, b), (p, q) = widths, sizes
    return p * (-1 / a) ** order * np.exp(-x / a) + q * b**-order * np.exp((x - 1) / b)


def beam(order, held, widths, sizes):
    def given(end, orders):
        values = [float(layers(end, widths, sizes, k)) for k in orders]
        return lambda u, x: tuple(
            (u.d("x", k) if k else u) - v for k, v in zip(orders, values, strict=True)
        )

    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.d("x", order) - layers(x, widths, sizes, order),
        left=given(0.0, held[0]),
        right=given(1.0, held[1]),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("order", "held"), [(m, h) for m, all_ in HELD.items() for h in all_])
def test_errors_are_at_most_three_estimates(order, held, seed):
    rng = np.random.default_rng([order, seed])
    widths, sizes = 10 ** rng.uniform(-2.2, -1, 2), rng.uniform(0.5, 1.5, 2)
    solution = sf.solve(beam(order, held, widths, sizes), tol=10 ** rng.uniform(-5, -2))
    error = max_error(solution, layers(X, widths, sizes), X)
    assert error <= 3 * solution.error_estimate


@pytest.mark.parametrize(
    ("widths", "tol"),
    [((0.0742, 0.0121), 2e-5), ((0.0892, 0.0151), 1.8e-4), ((0.07, 0.0225), 1e-4)],
)
@pytest.mark.parametrize("sizes", [(1.0, 1.0), (0.7, 1.3), (-1.8, 2.8)])
def test_clamped_left_and_supported_right(widths, tol, sizes):
    """Thirds of a spacing gave errors up to 42 estimates, and 22 tolerances, here."""
    solution = sf.solve(beam(4, HELD[4][0], widths, sizes), tol=tol)
    error = max_error(solution, layers(X, widths, sizes), X)
    assert solution.converged and error <= min(tol, 3 * solution.error_estimate)
