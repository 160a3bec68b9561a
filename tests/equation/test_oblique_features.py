"""Places across the axes that formulas tell of, and solutions that do not miss what is there."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.oblique_features import places_across, zero_functions

SQUARE = sf.Box((0, 1), (0, 1))


def heated(source):
    """Return the problem of a plate with a source, cold all round."""
    return sf.Problem(
        SQUARE, lambda u, x, y: -sf.laplacian(u) - source(x, y), boundary=lambda u, x, y: u
    )


def window(a, b, width):
    """Return a square of a source that stands on its corner, of one unit of heat."""
    return lambda x, y: np.where(
        (abs(x - a + y - b) < width) & (abs(x - a - y + b) < width), 0.5 / width**2, 0.0
    )


def test_one_line_alone_is_gone_to():
    """An exponential, which is nowhere zero, is none."""
    every = [form.source for form in heated(lambda x, y: np.exp(x + y - 1)).forms]
    assert len(zero_functions(every, {"x", "y"})) == 1
    found = places_across(every, ("x", "y"), np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert len(found) > 100
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    every = [form.source for form in heated(lambda x, y: np.sin(np.exp(x + y - 1))).forms]
    assert [str(f) for f in zero_functions(every, {"x", "y"})] == ["x + y - 1"]


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    "source",
    [
        lambda w: window(0.317, 0.588, w),
        lambda w: lambda x, y: np.where((x + y > 1) & (x + y < 1 + w), 1 / w, 0),
        lambda w: lambda x, y: np.where((x + 2 * y - 1) ** 2 + (x - y) ** 2 < w**2, 1.0, 0),
        lambda w: lambda x, y: np.exp(-(((x + 2 * y - 1) / w) ** 2) - ((x - y) / w) ** 2),
        lambda w: lambda x, y: np.where(abs(np.hypot(x - 0.3, y - 0.4) - 0.2) < w, 1.0, 0),
    ],
)
def test_narrow_things_across_the_axes_are_gone_to(source, width):
    own = source(width)
    places = places_across(heated(own).equations, ("x", "y"), SQUARE.bounds)
    assert np.count_nonzero(own(*places.T) > 0.5 * own(*places.T).max()) > 0
    assert own(*places.T).max() > 0


def test_formulas_along_the_axes_tell_of_nothing_across():
    problem = heated(lambda x, y: np.where(x < 0.3, np.exp(-(y**2)), 0))
    assert len(places_across(problem.equations, ("x", "y"), SQUARE.bounds)) == 0


@pytest.mark.parametrize(
    ("a", "b", "width"),
    [(0.317, 0.588, 0.01), pytest.param(0.71, 0.233, 0.003, marks=pytest.mark.slow)],
)
def test_a_small_square_on_its_corner_is_not_missed(a, b, width):
    found = sf.solve(heated(window(a, b, width)), tol=1e-2)
    k = np.arange(1, 60)[:, None] * np.pi
    waves = 4 * np.sin(k * a) * np.sin(k.T * b) / (k**2 + k.T**2)
    x, y = 1 - a, 1 - b  # far away a point would do
    exact = (np.sin(k * x) * waves * np.sin(k.T * y)).sum()
    assert abs(found(x, y) - exact) < 0.02 * exact


def test_a_band_that_no_patch_sees_is_not_called_solved():
    band = heated(lambda x, y: np.where(abs(0.62 * x + 0.78 * y - 0.62) < 5e-7, 1e6, 0))
    found = sf.solve(band, tol=1e-2, max_kernels=4000)
    assert not found.converged
    assert "no patch sees" in found.outcome.detail
