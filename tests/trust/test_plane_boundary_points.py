"""Data on curved boundaries that lie between all points of the rows there."""

import numpy as np
import pytest

import sharpfront as sf


def with_a_bump(domain, angle, width, kind):
    """Return a problem whose data are a bump at an angle of the rim, zero elsewhere."""
    x0, y0 = np.cos(angle), np.sin(angle)

    def data(x, y):
        return np.exp(-(((x - x0) / width) ** 2) - ((y - y0) / width) ** 2)

    def held(u, x, y):
        return u - data(x, y)

    def cooled(u, x, y):
        return u.dn + u - data(x, y)

    return sf.Problem(
        domain, lambda u, x, y: -sf.laplacian(u), boundary=held if kind == "values" else cooled
    )


@pytest.mark.parametrize("kind", ["values", "fluxes"])
@pytest.mark.parametrize(("angle", "width"), [(0.3, 1e-3), (2.2, 1e-5), (4.0, 3e-4)])
def test_a_bump_that_no_row_sees_is_not_called_solved(angle, width, kind):
    solution = sf.solve(with_a_bump(sf.Disk((0, 0), 1), angle, width, kind), tol=1e-3)
    if solution.converged:
        assert solution(np.cos(angle), np.sin(angle)) > 0.5 * (kind == "values")
        assert solution.kernels > 500
    else:
        assert solution.error_estimate > 1e-3
        assert "so narrow that no patch sees it" in solution.outcome.detail


@pytest.mark.parametrize("place", [(0.6, 0.8), (-0.8, -0.6)])
@pytest.mark.parametrize("data", [lambda s: np.exp(s), lambda s: np.where(s > -1, 1.0, 0.0)])
def test_a_bump_where_an_argument_is_largest_is_not_overlooked(place, data):
    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y: -sf.laplacian(u),
        boundary=lambda u, x, y: u - data((place[0] * x + place[1] * y - 1) / 1e-6),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert not solution.converged
    assert f"({place[0]}, {place[1]})" in solution.outcome.detail


@pytest.mark.parametrize("kind", ["values", "fluxes"])
@pytest.mark.parametrize(("angle", "width"), [(0.3, 0.2), (2.2, 0.05)])
def test_a_bump_that_is_seen_is_solved(angle, width, kind):
    assert sf.solve(with_a_bump(sf.Disk((0, 0), 1), angle, width, kind), tol=1e-2).converged


@pytest.mark.parametrize("hole", [0.3, 0.05])
def test_smooth_data_raise_no_doubt(hole):
    domain = sf.Box((0, 1), (0, 1)) - sf.Disk((0.4, 0.6), hole).named("hole")
    problem = sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: u - np.sin(x + 2 * y),
        hole=lambda u, x, y: u.dn - np.cos(3 * x),
    )
    assert sf.solve(problem, tol=1e-3).converged


@pytest.mark.parametrize("wave", [1.0, 1.7])
def test_normals_may_stand_in_data(wave):
    """Fluxes are often those of a known solution, whose slopes hold normals."""

    def exact(x, y):
        return np.exp(wave * x) * np.cos(wave * y)

    def cooled(u, x, y):
        slope, value = exact(x, y).dn, exact(x, y)
        return (1 + slope**2) * (u - value) + u.dn - slope

    domain = sf.Disk((0.2, 0), 1)
    solution = sf.solve(
        sf.Problem(domain, lambda u, x, y: sf.laplacian(u), boundary=cooled), tol=1e-6
    )
    assert solution.converged
    assert abs(solution(0.4, 0.3) - exact(0.4, 0.3)) < 1e-6


@pytest.mark.parametrize("width", [3e-3, 1e-4])
@pytest.mark.parametrize(
    ("domain", "place"),
    [
        (sf.Box((0, 1), (0, 1)), (0.37, 0.0)),
        (sf.Box((-1, 1), (0, 1)) - sf.Box((0.5, 1), (0.5, 1)), (-0.29, 1.0)),
        (sf.Polygon([(0, 0), (1, 0.2), (0.7, 1.1), (-0.1, 0.8)]), (0.613, 0.1226)),
    ],
)
def test_bumps_on_straight_sides_are_not_overlooked(domain, place, width):
    def bump(x, y):
        return np.exp(-(((x - place[0]) / width) ** 2) - ((y - place[1]) / width) ** 2)

    problem = sf.Problem(
        domain, lambda u, x, y: -sf.laplacian(u) + u, boundary=lambda u, x, y: u - bump(x, y)
    )
    solution = sf.solve(problem, tol=1e-2)
    assert not solution.converged or abs(float(solution(*place)) - 1) < 1e-2
    if not solution.converged:
        assert solution.error_estimate >= 1.0
