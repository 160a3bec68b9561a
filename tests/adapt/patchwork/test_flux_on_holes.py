"""What flows through holes: the normal of a hole leads out of the region, into the hole."""

import numpy as np
import pytest

import sharpfront as sf

# Holes so small that strips go along them, in places that fall on no symmetry, and a large one;
# and what they lose.
HOLES = [
    (0.31, 0.17, 0.2, 0.0),
    (0.07, -0.53, 0.004, 3.0),
    (0.0, 0.0, 0.01, 0.0),
]


def source(place, radius):
    """Return a potential of a source in a hole, one on the unit circle about it."""
    x0, y0 = place

    def value(x, y):
        return 1 + np.log(np.hypot(x - x0, y - y0)) / np.log(1 / radius)

    return value


@pytest.mark.parametrize(("x", "y", "radius", "loss"), HOLES)
def test_given_fluxes_through_holes_have_the_right_sign(x, y, radius, loss):
    exact = source((x, y), radius)
    flux = -1 / radius / np.log(1 / radius)  # the potential falls into the hole
    holed = sf.Disk((0, 0), 1) - sf.Disk((x, y), radius).named("hole")
    problem = sf.Problem(
        holed,
        lambda u, x, y: -sf.laplacian(u),
        boundary=lambda u, x, y: u - exact(x, y),
        hole=lambda u, x, y: u.dn + loss * u - flux - loss * exact(x, y),
    )
    found = sf.solve(problem, tol=1e-3)
    assert found.converged
    turn = np.linspace(0, 6, 25)
    for distance in (1.1 * radius, 2 * radius, 0.3):
        at = x + distance * np.cos(turn), y + distance * np.sin(turn)
        assert np.abs(found(*at) - exact(*at)).max() < 1e-3
