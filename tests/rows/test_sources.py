"""Sources of which Gauss points tell too little."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.rows.sources import resolved_sources

FEW = settings(derandomize=True, deadline=None, max_examples=15)
BOX = sf.Box((-1, 1), (0, 1))


def mean_of(patch, source):
    """Return the mean of what stands for a source at a patch's Gauss points."""
    counts = tuple(p + 1 for p in patch.functions)
    points, weights = patch.gauss_points(counts)
    (values,) = resolved_sources([patch], [source(points)], source)
    return values @ weights, values, source(points)


@FEW
@given(
    place=st.floats(-2, 2), power=st.floats(0.2, 0.9), length=st.floats(0.01, 1), end=st.booleans()
)
def test_a_power_at_a_side_has_its_mean(place, power, length, end):
    sides = (place - length, place) if end else (place, place + length)
    patch = Patch((AxisMap(*sides), AxisMap(0, 1)), (8, 6))
    mean, _, _ = mean_of(patch, lambda x: np.abs(x[:, 0] - place) ** -power * np.exp(x[:, 1]))
    exact = np.expm1(1.0) * length**-power / (1 - power)
    # Places are known to rounding only, and of x^-0.9 much lies within that.
    assert mean == pytest.approx(exact, rel=1e-8 if power < 0.6 else 2e-5)


@FEW
@given(power=st.floats(0.5, 1.5), corner=st.sampled_from([(0, 0), (1, 0), (1, 1)]))
def test_a_pole_at_a_corner_has_its_mean(power, corner):
    patch = Patch((AxisMap(0, 0.5), AxisMap(0, 0.5)), (9, 9))
    at = 0.5 * np.array(corner)
    mean, _, _ = mean_of(patch, lambda x: np.linalg.norm(x - at, axis=1) ** -power)
    angle, w = gauss(40)
    reach = 0.5 / np.cos(np.pi / 8 * (1 + angle))
    assert mean == pytest.approx(np.pi / 2 * w @ reach ** (2 - power) / (2 - power) / 0.25, 1e-8)


@pytest.mark.parametrize("power", [1.0, 1.4, 2.0])
def test_what_has_no_mean_is_left_alone(power):
    patch = Patch((AxisMap(0.3, 0.4), AxisMap(0, 1)), (8, 6))
    _, values, own = mean_of(patch, lambda x: (x[:, 0] - 0.3) ** -power)
    assert np.array_equal(values, own)


@FEW
@given(place=st.floats(-0.3, 0.3), wave=st.floats(0, 3))
def test_polynomials_are_left_alone(place, wave):
    patch = Patch((AxisMap(0, 1), AxisMap(0, 1)), (9, 9))
    _, values, own = mean_of(patch, lambda x: np.cos(wave * x[:, 0] + x[:, 1] - place))
    assert np.array_equal(values, own)


@pytest.mark.parametrize(("power", "place"), [(1.1, 0.3), (1.3, -0.47)])
def test_a_slope_that_is_hardly_continuous(power, place):
    """The source is infinite on a line, and the flux past it was wrong by percents."""

    def exact(x, y):
        return np.cos(2 * y + x) + np.where(x > place, np.abs(x - place) ** power, 0.0)

    problem = sf.Problem(
        BOX,
        lambda u, x, y: -sf.laplacian(u - exact(x, y)),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged, str(solution.outcome)
    near = np.concatenate([-np.geomspace(1e-9, 0.5, 30), np.geomspace(1e-9, 0.5, 30)])
    x, y = (v.ravel() for v in np.meshgrid(place + near, np.linspace(0, 1, 7)))
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-5
