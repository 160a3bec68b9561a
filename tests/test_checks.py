"""Values that depend on the points beside them, and long lists, wherever functions are given."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.checks import shortened
from sharpfront.errors import DomainError, EquationError, ProblemError

UNIT, SQUARE = sf.Interval(0, 1), sf.Box((0, 1), (0, 1))
# Ways in which a value takes in the points beside it; each is a function of x for some set of them.
TOGETHER = {
    "mean": lambda x: x**2 - np.mean(x**2),
    "largest": lambda x: (1 + x) / np.max(1 + x),
    "integral": lambda x: np.exp(-x) / np.sqrt(np.trapezoid(np.exp(-2 * x), x) + 2),
    "sum": lambda x: np.cumsum(x),
    "order": lambda x: np.sort(x)[::-1],
    "drawn": lambda x: np.random.default_rng(3).random(x.shape),
    "counted": lambda x: np.where(np.arange(x.size) < x.size // 2, 1.0, 0.0),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_a_value_that_depends_on_the_points_beside_it_is_refused(name):
    f = TOGETHER[name]
    with pytest.raises(EquationError, match="depend on its own point alone"):
        sf.solve(sf.Problem(UNIT, lambda u, x: u.dxx - sf.function(f)(x), boundary="u = 0"))
    start = {"boundary": "u = 0", "time": (0, 0.01)}
    with pytest.raises(ProblemError, match=r"initial state of u is .* its own point alone"):
        sf.solve(sf.Problem(UNIT, "u_t = u_xx", initial=f, **start), tol=1e-2)
    across = sf.Problem(SQUARE, "u_t = laplacian(u)", initial=lambda x, y: f(x * x * y), **start)
    with pytest.raises(ProblemError, match=r"initial state of u is .* its own point alone"):
        sf.solve(across, tol=1e-2)


def test_a_region_whose_function_depends_on_the_points_beside_is_refused():
    with pytest.raises(DomainError, match=r"implicit region is .* its own point alone"):
        sf.Implicit(lambda x, y: np.hypot(x, y) / np.max(np.hypot(x, y)) - 0.5, ((-1, 1), (-1, 1)))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 2,
        lambda x: x,
        lambda x: np.where(x > 0.3, np.inf, 1.0),
        lambda x: np.vectorize(lambda a: a if a > 0.5 else 0.0)(x),
        lambda x: np.asarray(x, np.float32) + np.float32(x.size * 1e-9),  # rounds by their number
    ],
)
def test_values_of_one_point_each_are_taken(f):
    x = np.linspace(0, 1, 11)
    assert np.array_equal(sf.function(f)(x), np.asarray(f(x), dtype=float))


def test_long_lists_are_cut_and_say_so():
    assert shortened(["a"] * 6) == ["a"] * 6
    assert shortened([str(i) for i in range(40)]) == ["0", "1", "2", "3", "4", "35 more"]
