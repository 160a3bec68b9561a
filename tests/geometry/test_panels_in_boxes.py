"""What of a boundary lies in a box is found, however little that is."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.geometry.curves import Curve
from sharpfront.geometry.panels import Panels

CIRCLE = Panels(
    [("rim", c) for c in sf.Disk((0, 0), 1).smooth_pieces("surface") if isinstance(c, Curve)]
)


@pytest.mark.parametrize("size", [0.05, 0.4, 2.0])
@pytest.mark.parametrize("deep", [1e-2, 1e-3, 1e-4, 1e-6])
def test_a_circle_that_cuts_a_corner_of_a_box_off(deep, size):
    for angle in np.linspace(0.2, 1.3, 12):
        low = (1.0 - deep * size) * np.array([np.cos(angle), np.sin(angle)])
        found = CIRCLE.inside(low, low + size)
        assert found
        ends = [CIRCLE.at(np.full(2, s.panel), np.array([s.start, s.stop])) for s in found]
        gaps = np.concatenate(ends) - low
        # It ends on each of the two sides that meet at the corner.
        assert np.all(np.abs(gaps).min(axis=0) < 1e-7 * size) and np.all(gaps >= -1e-7 * size)


@pytest.mark.parametrize("deep", [1e-3, 1e-5])
def test_a_circle_that_bulges_into_a_box(deep):
    for place in np.linspace(-0.03, 0.03, 7):
        low = np.array([1.0 - deep, place - 0.5])
        found = CIRCLE.inside(low, low + 1.0)
        assert found
        ends = [CIRCLE.at(np.full(2, s.panel), np.array([s.start, s.stop])) for s in found]
        reach = np.concatenate(ends)[:, 1]
        np.testing.assert_allclose(
            [reach.min(), reach.max()], np.array([-1, 1]) * np.sqrt(2 * deep), rtol=1e-2
        )


def test_all_of_a_heart_is_covered():
    heart = sf.Implicit(
        lambda x, y: (x**2 + y**2 - 1) ** 3 - x**2 * y**3, ((-1.5, 1.5), (-1.5, 1.5))
    )
    problem = sf.Problem(
        heart,
        lambda u, x, y: -sf.laplacian(u),
        boundary=lambda u, x, y: u - np.exp(x) * np.sin(y),
    )
    solution = sf.solve(problem, tol=1e-3)
    x, y = heart.boundary("surface", 2000).points.T
    assert solution.converged
    np.testing.assert_allclose(solution(x, y, extrapolate=True), np.exp(x) * np.sin(y), atol=1e-6)
