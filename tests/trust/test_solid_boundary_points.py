"""Data on the boundary of a solid that lie between all points of the rows there."""

import numpy as np
import pytest

import sharpfront as sf

BALL = sf.Ball((0, 0, 0), 1)
CUT = sf.Box((0, 1), (0, 1), (0, 1)) - sf.Ball((1, 1, 1), 0.4)
CUBE = sf.Box((0, 1), (0, 1), (0, 1))


def bump(place, width, kind):
    """Return a function that is one at a place and next to nothing farther away."""

    def around(x, y, z):
        r2 = sum((c - p) ** 2 for c, p in zip((x, y, z), place, strict=True))
        if kind == "disk":
            return np.where(r2 < width**2, 1.0, 0.0)
        return 1 / (1 + r2 / width**2) if kind == "slow" else np.exp(-r2 / (2 * width**2))

    return around


def stated(domain, data, flux=False):
    """Return a problem with values or fluxes on all of the boundary."""

    def residual(u, x, y, z):
        return (u.dn + u if flux else u) - data(x, y, z)

    return sf.Problem(domain, lambda u, x, y, z: -sf.laplacian(u) + u, boundary=residual)


@pytest.mark.parametrize(
    ("domain", "place", "kind", "width"),
    [
        (CUBE, (0.3, 0.6, 1.0), "bell", 3e-3),
        (CUBE, (0.3, 0.6, 1.0), "disk", 1e-5),
        (CUBE, (0.0, 0.517, 0.291), "flux", 1e-3),
        (CUBE, (0.71, 0.0, 0.291), "slow", 1e-4),
        (BALL, (0.36, 0.48, 0.8), "bell", 1e-5),
        (BALL, (-0.8, 0.0, -0.6), "disk", 3e-3),
        (CUT, (1.0, 0.213, 0.4), "bell", 1e-4),
        (CUT, (0.76, 0.744, 0.808), "disk", 1e-3),  # on the sphere
    ],
)
def test_bumps_are_not_overlooked(domain, place, kind, width):
    data = bump(place, width, "bell" if kind == "flux" else kind)
    scale = 1 / width if kind == "flux" else 1.0
    problem = stated(domain, lambda x, y, z: scale * data(x, y, z), kind == "flux")
    solution = sf.solve(problem, tol=1e-2, max_kernels=3000)
    assert not solution.converged
    assert solution.error_estimate >= 1e-2


TOPS = {
    "exponential": lambda s, w: np.exp((s - 1) / w**2),
    "charge": lambda s, w: w**3 / (2 + w**2 - 2 * s) ** 1.5,
    "cap": lambda s, w: np.where(s > 1 - w**2, 1.0, 0.0),
}


@pytest.mark.parametrize("kind", TOPS)
def test_bumps_where_an_argument_is_largest_are_not_overlooked(kind):
    """Nothing inside is zero about there."""

    def data(x, y, z):
        return TOPS[kind](0.36 * x + 0.48 * y + 0.8 * z, 2e-3)

    solution = sf.solve(stated(BALL, data), tol=1e-2, max_kernels=3000)
    assert not solution.converged
    assert "(0.36, 0.48, 0.8)" in solution.outcome.detail


@pytest.mark.parametrize("slope", [(1, 1, 0), (1, -2, 0.5)])
def test_ridges_across_a_face_are_not_overlooked(slope):
    def ridge(x, y, z):
        along = slope[0] * (x - 0.31) + slope[1] * (y - 0.47) + slope[2] * (z - 1)
        return np.exp(-((along / 1e-4) ** 2))

    solution = sf.solve(stated(CUBE, ridge), tol=1e-2, max_kernels=3000)
    assert not solution.converged


@pytest.mark.parametrize(("domain", "flux"), [(CUBE, True), (BALL, False), (CUT, False)])
def test_smooth_data_raise_no_doubt(domain, flux):
    def exact(x, y, z):
        return np.exp((2 * (x - 0.3) + 2 * (y + 0.1) + z) / 3)

    def residual(u, x, y, z):
        known = exact(x, y, z)
        return u.dn + u - known.dn - known if flux else u - known

    problem = sf.Problem(domain, lambda u, x, y, z: -sf.laplacian(u) + u, boundary=residual)
    assert sf.solve(problem, tol=1e-2).converged
